// What a plan of choice (choice_plan.hpp) remembers of the questions that are under way. Pure.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include "peers/directory.hpp"

namespace proxy::sources {

using QuestionNumber = unsigned;  // unique in the plan

struct UnderWay {
  QuestionNumber number = 0;
  peers::PeerRef peer = nullptr;  // null: the origin
  bool on_trial = false;
  bool is_owner = false;      // of a key that nobody claims; not one that an owner has named
  bool waits_itself = false;  // the neighbour has said that it waits for a source of its own
  bool names_fetcher = false;
};

class QuestionsUnderWay {
 public:
  void add(UnderWay question) { all_.push_back(std::move(question)); }
  // Null: it is not under way.
  [[nodiscard]] UnderWay* find(QuestionNumber number) {
    const auto found = std::find_if(all_.begin(), all_.end(),
                                    [&](const UnderWay& one) { return one.number == number; });
    return found == all_.end() ? nullptr : &*found;
  }
  // Returns what it was.
  UnderWay remove(QuestionNumber number) {
    const auto* const found = find(number);
    if (!found) return {};
    auto was = std::move(*found);
    all_.erase(all_.begin() + (found - all_.data()));
    return was;
  }
  void clear() { all_.clear(); }
  [[nodiscard]] bool none() const { return all_.empty(); }
  [[nodiscard]] bool ask_peer() const {
    return std::any_of(all_.begin(), all_.end(), [](const UnderWay& one) { return !!one.peer; });
  }
  [[nodiscard]] bool ask(const peers::PeerRef& peer) const {
    return std::any_of(all_.begin(), all_.end(),
                       [&](const UnderWay& one) { return one.peer == peer; });
  }
  // Whether another question would be the second one for the same answer. A trial counts for
  // itself.
  [[nodiscard]] bool would_be_doubled() const {
    return std::any_of(all_.begin(), all_.end(), [](const UnderWay& one) { return !one.on_trial; });
  }
  // The last one to the origin, by whatever route.
  [[nodiscard]] std::optional<QuestionNumber> last_to_origin() const {
    const auto last =
        std::find_if(all_.rbegin(), all_.rend(), [](const UnderWay& one) { return !one.peer; });
    return last == all_.rend() ? std::nullopt : std::optional(last->number);
  }

 private:
  boost::container::small_vector<UnderWay, 4> all_;
};

// The member of the site that is waited for, as the owner of a key that nobody claims or as the one
// that an owner has named.
struct AwaitedMember {
  using Time = peers::SteadyTime;
  // How long a member may be silent at most, however much it is asked.
  static constexpr std::chrono::milliseconds kMostInCrowd = 2 * peers::kHeartbeat;

  peers::PeerRef peer = nullptr;  // null: none is
  QuestionNumber question = 0;
  struct Waited {
    Time since{};
    Time::duration patience{};  // if this question is the only one that the member is asked
  } waited = {};
  bool next_is_named = false;        // whether an owner has named the next candidate
  Time patience_ends = Time::max();  // with its own fetch, once it has said that it waits
  std::size_t given_up = 0;          // so many before it

  void ask(peers::PeerRef member, QuestionNumber number, Waited since) {
    peer = std::move(member);
    question = number;
    waited = since;
    next_is_named = false;
    patience_ends = Time::max();
  }
  // How much longer the member may be silent because it answers other questions of ours, too: its
  // patience is for each of them. Zero once it has said that it waits.
  [[nodiscard]] Time::duration more_in_crowd(Time now) const {
    if (!peer || patience_ends != Time::max()) return {};
    const auto questions = std::max(peer->accuracy.standing().under_way, 1U);
    const auto patience = std::min<Time::duration>(questions * waited.patience, kMostInCrowd);
    return std::max(waited.since + patience - now, Time::duration());
  }
  // Gives the member up and returns it. Null: there is none, or as many were given up as may be. If
  // this one has used up the patience with its fetch, that is one: an origin that is slow for two
  // members is slow for all.
  peers::PeerRef give_up(Time now) {
    const std::size_t most = now < patience_ends ? peers::SiteQuestion::kMostGivenUp : 1;
    if (!peer || given_up >= most) return nullptr;
    ++given_up;
    return std::exchange(peer, nullptr);
  }
};

// If this machine is busy, a wait ends late, and the answer may lie unread in a socket. Then the
// source is not to blame, and the wait may go on once: for as long as it was late, up to kMost.
class OurDelay {
 public:
  using Time = peers::SteadyTime;

  // A wait that goes on may be begun again, if something else has ended it.
  void begin_wait(Time until) { waits_until_ = until == goes_on_until_ ? Time::max() : until; }
  // The wait that was to end at `until` has ended. Returns how much longer it may go on; zero: it
  // ended in time.
  Time::duration more_after(Time until, Time now) {
    const bool is_known = std::exchange(waits_until_, Time::max()) == until;
    if (!is_known) return {};  // `until` may be the least time there is
    const auto delay = now - until;
    if (delay <= kInTime) return {};
    sum_ += delay;
    return std::min<Time::duration>(delay, kMost);
  }
  // Continues the wait. Returns when it ends now.
  Time go_on(Time::duration more, Time now) {
    sum_ += more;
    return goes_on_until_ = now + more;
  }
  [[nodiscard]] Time::duration sum() const { return sum_; }

 private:
  // By how much a wait may end too late: timers and other coroutines delay it.
  static constexpr std::chrono::milliseconds kInTime{5};
  static constexpr std::chrono::milliseconds kMost{250};

  Time waits_until_ = Time::max();
  Time goes_on_until_ = Time::max();
  Time::duration sum_{0};
};

}  // namespace proxy::sources
