// Whom one request asks, when, and when it stops waiting. Pure: no I/O, no clock, no randomness.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <variant>

#include "config/settings.hpp"
#include "peers/directory.hpp"
#include "proxy/observe/count.hpp"
#include "proxy/sources/candidates.hpp"
#include "proxy/sources/under_way.hpp"
#include "proxy/upstream/route.hpp"

namespace proxy::sources {

// How many second questions one thread may ask while the answer of a neighbour or a parent is still
// awaited: a share of the requests that ask neighbours or parents, so that slow neighbours cannot
// double the load of the others and of the origins. What is not used is kept for a burst. Not
// thread-safe.
class Hedges {
 public:
  // `taken` (or null) counts the second questions.
  explicit Hedges(observe::Count* taken = nullptr) : taken_(taken) {}

  static constexpr double kShare = 0.2;
  static constexpr double kBurst = 20;

  // Call this for each request that may ask a neighbour, or a parent by its route. Allows kShare of
  // a second question more, up to kBurst in all.
  void earn() { left_ = std::min(left_ + kShare, kBurst); }
  // Whether another question may be asked now; if so, it counts.
  [[nodiscard]] bool take() {
    if (left_ < 1) return false;
    left_ -= 1;
    count_rest();
    return true;
  }

  // Counts a second question that asks for the rest of a body. Such a question needs no take().
  void count_rest() {
    if (taken_) taken_->add();
  }

  // Whether the next request may ask a second question.
  [[nodiscard]] bool allow_next() const { return left_ + kShare >= 1; }

 private:
  observe::Count* const taken_;
  double left_ = kBurst;
};

// A state machine. Its caller begins it, carries out each Action of next(), and reports what the
// questions bring. Claimants that fit the budget are asked, one after the other:
// - If one fails, the next one is asked.
// - If one is silent for longer than it mostly is, the next source is asked, too: another claimant
//   or, once the budget's patience is over, the origin. The caller takes the first good answer.
// - If too many requests ask two sources (Hedges), the silent one is left first.
// - One request at a time tries a neighbour that failed, beside the next source.
// - If the origin fails, the reserve is asked: claimants that do not fit the budget.
// - If a parent on the way to the origin is silent for longer than the origin mostly takes, the
//   rest of the route is asked, too.
// If nobody claims the key (Lead::site), the candidate is the member that member_to_ask() finds,
// and then the fetcher that an owner names. If one fails, is silent, or waits for its fetch for
// longer than patience_with_fetch(), it is given up, and the next owner is asked: twice at most,
// but once if the fetch has taken too long. Then the origin is asked.
//
// Belongs to one request.
class ChoicePlan {
 public:
  using Time = peers::SteadyTime;
  using Number = QuestionNumber;

  struct Given {
    Candidates candidates;
    Budget budget;
    peers::FirstByte origin_takes;
    // The way to the origin. Nothing: the request may not ask it, and the plan ends where it would.
    std::optional<upstream::Route> route = std::nullopt;
    config::Prefer prefer = config::Prefer::origin_load;
    bool nobody_else = false;  // no other source is left: the reserve is asked at once
  };
  // `hedges` outlives the plan.
  ChoicePlan(Given given, Hedges& hedges);

  struct Question {
    Number number = 0;
    peers::PeerRef peer = nullptr;  // null: the origin, by `route`
    upstream::Route route = {};
    Time asked = {};
    Time expected_by = Time::max();  // a later answer is a slow one
    bool on_trial = false;           // Probation::begin_trial() was true
    // Whether the question goes on to its first byte after the caller has left it. The time of the
    // first byte shows how fast the source is.
    bool seen_out = false;
  };
  struct Ask {
    Question question;
    bool alone = false;  // first leave the questions that are under way: settle() was called
  };
  struct AskRestOfRoute {  // find the servers that this question has yet to try; see
                           // route_goes_on()
    Number of;
  };
  // Find the key's owner without this member of the site and those given up before; see
  // owner_is(). The question stays under way.
  struct AskNextOwner {
    peers::PeerRef given_up;
  };
  struct Wait {
    Time until;  // or until a question is over
  };
  struct End {};  // no source is left
  using Action = std::variant<Ask, AskRestOfRoute, AskNextOwner, Wait, End>;

  [[nodiscard]] const Given& given() const { return given_; }
  // Whether there is anybody to choose among. If not, the plan ends at once.
  [[nodiscard]] bool has_choice() const { return !given_.candidates.none() || by_route_; }

  // Call this once, before next().
  void begin(Time now);
  [[nodiscard]] Time begun() const { return begun_; }
  [[nodiscard]] bool has_asked() const { return questions_ > 0; }
  // What to do now. Call it again after the action, and after each report.
  Action next(Time now);
  // Carries on after AskRestOfRoute. `rest`: what is left of the route. Returns the question to ask
  // next. Nothing: the rest leads nowhere.
  std::optional<Question> route_goes_on(upstream::Route rest, Time now);
  // Carries on after AskNextOwner. Null: there is no owner to ask, so the origin is next.
  void owner_is(peers::PeerRef owner);

  // Reports on questions. The neighbour's answer is of no use, or there is none. A member of the
  // site that says no, and names no fetcher, has taken us for it: others may wait for us.
  enum class No : std::uint8_t { said, failed };
  void peer_has_not(Number question, No no, Time now);
  // Reports that the neighbour begins to send a response. If the response is of no use, the next
  // source is asked at once.
  void peer_has(Number question);
  // A neighbour waits for a fetch of its own: see patience_with_fetch(). Returns whether the plan
  // waits for it: it was not given up, and the origin is not asked.
  bool peer_waits_itself(Number question, Repeats repeats, Time now);
  // An owner, even one that was given up, has answered that another member fetches the response.
  // `fetcher`: that member, to be asked next; null if it may not be asked. Call this before
  // peer_has_not().
  void fetcher_named(Number question, peers::PeerRef fetcher);
  // The origin has failed, or answered with an error. Returns whether another source may still
  // answer.
  enum class Failed : std::uint8_t {
    itself,
    on_the_way,  // another route may do better
  };
  bool origin_has_failed(Number question, Failed how, Time now);
  // The part of the time for which no source is to blame: how much too late waits have ended, and
  // how much longer they went on because this machine is busy.
  [[nodiscard]] Time::duration our_delay() const { return our_delay_.sum(); }
  [[nodiscard]] bool origin_failed() const { return origin_ == OriginIs::failed; }

  // Call this if a neighbour's answer is of use only if the origin fails. The neighbour is asked
  // again then.
  void put_off(peers::PeerRef peer) { given_.candidates.put_in_reserve(std::move(peer)); }
  // The caller has left all questions under way: forgets them.
  void settle(Time now);

 private:
  Action ask_next_source(Time now);
  Action ask_next_route(Time now);
  Action wait();
  Question to_claimant(const peers::PeerRef& peer, Time now);
  Question to_origin(upstream::Route route, Time now);
  Question add(Question question);
  [[nodiscard]] bool asks_origin_first() const;

  Given given_;
  Hedges& hedges_;
  // Whether the route has several servers. A parent among them may be silent, so the plan is
  // followed even if there is no neighbour to ask.
  const bool by_route_;
  Time begun_{};
  Time next_source_at_ = Time::min();
  OurDelay our_delay_;
  AwaitedMember member_;
  // When the origin is asked by the rest of the route, if a parent is silent until then.
  Time by_rest_at_ = Time::max();
  enum class OriginIs : std::uint8_t { not_asked, asked, failed } origin_ = OriginIs::not_asked;
  Number questions_ = 0;
  std::optional<Question> trial_;  // to be asked first
  QuestionsUnderWay under_way_;
};

// What becomes of a neighbour in a plan that is not begun.
enum class Prospect : std::uint8_t {
  in_line,      // asked in its turn
  tried,        // asked at once, beside the next source
  other_trial,  // on trial, but another trial is under way, or comes first
  no_hedge,     // on trial, but too many requests ask two sources
  no_origin,    // on trial, and the origin is not asked, which would answer meanwhile
  too_slow,
};
// Nothing: it is no candidate. Changes nothing.
std::optional<Prospect> prospect_of(const peers::PeerRef& peer, const ChoicePlan::Given& given,
                                    const Hedges& hedges);

// Whether a question that was left had taken longer than expected, and whom it was for.
enum class Left : std::uint8_t { in_time, late_peer, late_origin };
// Whether the source had not answered when the question was left.
enum class Silence : std::uint8_t {
  none,     // its answer is there
  excused,  // a neighbour waits for its own source, or its name is being resolved
  unexcused,
};
Left how_left(const ChoicePlan::Question& question, Silence silence, ChoicePlan::Time now);

}  // namespace proxy::sources
