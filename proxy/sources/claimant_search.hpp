// Asks the neighbours that claim a key, within a budget against the origin, and then the origin.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "digest/key.hpp"
#include "peers/directory.hpp"
#include "proxy/sources/candidates.hpp"
#include "proxy/sources/neighbour.hpp"
#include "proxy/sources/source_race.hpp"

namespace proxy {

// Asks claimants that fit the budget, the better of two drawn at random first. If one fails, the
// next one is asked. If one is silent for longer than it mostly is, the next source is asked, too:
// another claimant or, once the budget's patience is over, the origin. The first good answer wins,
// and the others are left. If too many requests ask two sources (Hedges), the silent one is left
// first. A key that nobody claims is asked of the one neighbour of the site that would know who
// fetches it (peers/site.hpp). If the origin fails, even claimants that do not fit the budget are
// asked. The origin may be asked through a parent. If that parent is silent for longer than the
// origin mostly takes, the rest of the route is asked, too. Belongs to one
// coroutine. The constructor's references outlive it.
class ClaimantSearch {
 public:
  struct For {
    digest::Key key;  // of the URL
    const Request& request;
    SiblingQuestion asked = {};
    bool claimants = true;  // whether any neighbour is asked
    // Whether guests are asked. They are not asked for parts: parts are joined with bytes of
    // others, which would hide who gave them. Nor for what is stale here: a guest could then keep
    // its own response from being checked for ever.
    bool guests = false;
    // Whether a neighbour of the site that may be fetching the response is asked if none claims it.
    bool of_site = false;
    Held held = Held::nothing;
    // Whether no other source is left: then even claimants that do not fit the budget are asked.
    bool nobody_else = false;
    // Makes the question to the origin by a route. Empty: the search does not ask the origin, and
    // ends when it would.
    std::function<Attempt(const upstream::Route&)> origin = {};
    Attempt::OnInterim on_interim = {};  // for the origin's interim heads
  };
  // Counts one claim for each neighbour that claims the key. If none does, and a part is asked for,
  // those count that claim a part. Adds each question that has ended
  // without a useful answer to `inquiries`, and words_for() each finding.
  ClaimantSearch(Worker& worker, For wanted, Inquiries& inquiries);

  // The next answer of a neighbour that holds the response; or, with peer() null, the question to
  // the origin with its outcome(), which may be a failure if no neighbour is left. Nothing if no
  // neighbour is left and the origin was not asked, if the client may not reach the origin's
  // address (access.deny_to), or after abandon(). Notes the worth of all other answers.
  // While the caller judges a neighbour's answer, the other questions stay under way.
  net::Task<std::optional<Attempt>> next();
  // The longest wait for more of the body of an answer from next(). `resumable`: another source may
  // have the rest.
  [[nodiscard]] std::chrono::milliseconds body_idle(const Attempt& answer, bool resumable) const;
  // Leaves the questions under way. Call this when a neighbour's answer is of use.
  void settle();
  // Call this when a neighbour's answer is of use only if the origin fails: its body might be cut,
  // and nobody would have the rest. The neighbour is asked again once the origin has failed.
  void put_off(const Attempt& answer);
  [[nodiscard]] bool origin_has_failed() const { return origin_.failure.has_value(); }
  // As note_worth(), for an answer from next(). Judges whether it was in_time().
  void note(const Attempt& attempt, const Finding& finding, std::uint64_t bytes = 0);

  // Ends the search and its wait. Called from outside the coroutine that waits.
  void abandon();
  [[nodiscard]] bool abandoned() const { return state_ == State::abandoned; }

 private:
  using Steady = Attempt::Steady;

  [[nodiscard]] bool must_be_allowed() const;
  net::Task<bool> guard_allows() const;
  [[nodiscard]] bool searching() const { return state_ == State::searching; }
  void begin(bool allowed);
  void begin_trial();
  bool ask_next_source(Steady::time_point now);
  [[nodiscard]] bool asks_origin_first() const;
  void ask_claimant(const peers::PeerRef& peer, Steady::time_point now);
  void wait_for_fetch();
  void follow_to_fetcher(const Attempt& answer);
  void ask_origin(Steady::time_point now);
  void ask_by_rest_of_route(Steady::time_point now);
  bool may_hedge();
  [[nodiscard]] bool may_be_answered_otherwise(const Attempt& origin) const;
  bool keep_failure(Attempt& origin);
  net::Task<void> note_no(SourceRace::Question& question, const Finding& finding);

  // The origin's side of the search.
  struct OriginTurn {
    upstream::Route route;  // by which it is asked next
    const peers::FirstByte takes;
    // Whether the search asks it even if no neighbour is asked, because a parent may be silent.
    const bool by_route;
    bool asked = false;
    std::optional<Attempt> failure = {};  // or its 5xx, while another source may still answer
    // When it is asked by the rest of the route, if a parent is silent until then.
    Steady::time_point by_rest_at = Steady::time_point::max();

    [[nodiscard]] bool works() const { return asked && !failure; }
  };
  static OriginTurn origin_turn(const Worker& worker, const For& wanted);

  Worker& worker_;
  const For wanted_;
  Inquiries& inquiries_;
  OriginTurn origin_;
  const Budget budget_;
  Candidates candidates_;
  SourceRace race_;
  std::optional<Steady::time_point> begun_;
  Steady::time_point next_source_at_ = Steady::time_point::min();
  enum class State : std::uint8_t { searching, over, abandoned } state_ = State::searching;
};

}  // namespace proxy
