// Plays a plan of choice in virtual time, against sources that answer as told. No clock, no
// coroutine.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proxy/sources/choice_plan.hpp"
#include "tests/peers/samples.hpp"

namespace proxy::sources::plays {

using namespace std::chrono_literals;
using Prefer = config::Prefer;
using Time = ChoicePlan::Time;
using ms = std::chrono::milliseconds;

inline const Time kStart{1000s};

inline peers::FirstByte steady(ms time) {
  peers::FirstByte estimate;
  for (int i = 0; i < 100; ++i) estimate = estimate.with(time);
  return estimate;
}

// What a source does with a question.
enum class Does {
  has,
  has_not,
  fails,
  says_error,
  is_silent,
  fetches_itself,
  keeps_saying_so,  // that it fetches itself, each peers::kHeartbeat until Source::ends
  has_other,        // a neighbour sends what is of no use
  may_be_cut,       // a neighbour sends what nobody else has the rest of: it is put off
};

struct Source {
  std::string name;
  ms known;  // its time to the first byte so far; 0: never measured
  Does does = Does::has;
  ms after = 1ms;                       // the question
  std::string_view names_fetcher = "";  // several: each after those before it are given up
  bool on_probation = false;
  // Of one that keeps saying that it fetches itself: what comes then, and when.
  ms ends = 0ms;
  Does at_end = Does::is_silent;
  bool was_often_silent = false;  // every third question, until the origin had answered
  int asked = 0;                  // other questions of ours to the peer that are under way
};

// A member of the site that says each heartbeat that it fetches. `ends` after the question it does
// `at_end`.
inline Source fetches(std::string name, ms ends, Does at_end = Does::has) {
  return {.name = std::move(name),
          .known = ms{2},
          .does = Does::keeps_saying_so,
          .ends = ends,
          .at_end = at_end};
}

struct Played {
  const char* claim;
  std::vector<Source> peers = {};
  Source origin = {"origin", 80ms, Does::has, 80ms};
  std::string expected = {};
  Prefer prefer = Prefer::origin_load;
  bool may_ask_origin = true;
  bool nobody_else = false;
  bool hedges = true;                // whether second questions are left
  std::vector<Source> parents = {};  // before the origin
  Lead lead = Lead::claim;
  std::string_view owners = "b";  // of the key, each after those before it are given up
  ms late = 0ms;                  // each wait ends by so much too late
};

inline void know(peers::Accuracy& peer, const Source& source) {
  const auto outcome =
      source.on_probation ? peers::ClaimOutcome::broken : peers::ClaimOutcome::true_hit;
  for (int i = 0; i < 100 && source.known > 0ms; ++i) {
    if (source.was_often_silent && i % 2 == 0)
      peer.record({peers::ClaimOutcome::outrun, 90ms}, kStart);
    peer.record({peers::ClaimOutcome::true_hit, source.known}, kStart);
  }
  if (source.on_probation) peer.record({outcome}, kStart - 1h);
}

// Plays one request, and tells what happened when: "0 ask b; 3 b has".
class Play {
 public:
  explicit Play(const Played& row) : row_(row), directory_(settings_of(row)) {
    for (std::size_t i = 0; i < row.peers.size(); ++i) {
      auto& accuracy = directory_.peers()[i]->accuracy;
      know(accuracy, row.peers[i]);
      for (int n = 0; n < row.peers[i].asked; ++n) others_.emplace_back(accuracy, peers::Trial::no);
      sources_[row.peers[i].name] = row.peers[i];
    }
    for (const auto& parent : row.parents) sources_[parent.name] = parent;
    sources_["origin"] = row.origin;
    while (!row.hedges && hedges_.take()) {
    }
  }

  std::string told() {
    ChoicePlan plan(given(), hedges_);
    if (!plan.has_choice()) return "no choice";
    plan.begin(now_);
    for (int steps = 0; steps < 100 && step(plan); ++steps) {
    }
    return told_;
  }

 private:
  struct Asked {
    ChoicePlan::Question question;
    Source source;
    Time at;
    bool waits = false;
  };

  static std::vector<config::PeerSettings> settings_of(const Played& row) {
    std::vector<config::PeerSettings> all;
    for (const auto& peer : row.peers) all.push_back(peers::samples::peer(peer.name.c_str()));
    return all;
  }

  ChoicePlan::Given given() {
    const auto takes = row_.origin.known > 0ms ? steady(row_.origin.known) : peers::FirstByte();
    auto budget = budget_against(takes, row_.prefer);
    if (!row_.may_ask_origin && !budget.longest) budget.longest = Budget::Time::max();
    peers::Claimants claimants;
    for (const auto& peer : directory_.peers())
      if (row_.lead == Lead::claim || claimants.empty()) claimants.push_back(peer);
    // The first one drawn is the first one left, so the order is that of the row.
    std::uint32_t drawn = 0;
    auto candidates = row_.lead == Lead::claim
                          ? Candidates(claimants, budget, now_, [&] { return drawn = 0; })
                          : Candidates(directory_.peers().front());
    return {.candidates = std::move(candidates),
            .budget = budget,
            .origin_takes = takes,
            .route = row_.may_ask_origin ? std::optional(route()) : std::nullopt,
            .prefer = row_.prefer,
            .nobody_else = row_.nobody_else};
  }

  upstream::Route route() {
    upstream::Route route;
    if (row_.parents.empty()) return route;
    std::vector<upstream::Parent> list;
    for (const auto& parent : row_.parents) {
      route.order.push_back(list.size());
      upstream::Parent at;
      at.name = at.at.host = parent.name;
      list.push_back(std::move(at));
    }
    route.parents = std::make_shared<upstream::Parents>(std::move(list));
    return route;
  }

  void tell(const std::string& what) {
    const auto at = std::chrono::duration_cast<ms>(now_ - kStart).count();
    if (!told_.empty()) told_ += "; ";
    told_ += std::to_string(at) + " " + what;
  }

  void ask(const ChoicePlan::Question& question) {
    std::string name = "origin";
    if (question.peer)
      name = question.peer->name;
    else if (question.route.has_parents())
      name = row_.parents[question.route.order.front()].name;
    tell((question.on_trial ? "try " : "ask ") + name);
    const auto& source = sources_.at(name);
    asked_.push_back(
        {question, source, source.does == Does::is_silent ? Time::max() : now_ + source.after});
  }

  // Returns whether the request goes on.
  bool step(ChoicePlan& plan) {
    auto action = plan.next(now_);
    if (auto* const asks = std::get_if<ChoicePlan::Ask>(&action)) {
      if (asks->alone) {
        tell("leave all");
        asked_.clear();
      }
      ask(asks->question);
      return true;
    }
    if (const auto* const rest = std::get_if<ChoicePlan::AskRestOfRoute>(&action)) {
      const auto silent = std::find_if(asked_.begin(), asked_.end(), [&](const Asked& one) {
        return one.question.number == rest->of;
      });
      auto route = silent->question.route;
      if (!route.has_parents()) return true;
      route.order.erase(route.order.begin());
      if (const auto question = plan.route_goes_on(route, now_)) ask(*question);
      return true;
    }
    if (const auto* const wait = std::get_if<ChoicePlan::Wait>(&action))
      return hear_until(plan, wait->until);
    if (const auto* const next = std::get_if<ChoicePlan::AskNextOwner>(&action)) {
      tell("give up " + next->given_up->name);
      given_up_.push_back(next->given_up);
      plan.owner_is(first_left_of(row_.owners));
      return true;
    }
    tell("end");
    return false;
  }

  bool hear_until(ChoicePlan& plan, Time until) {
    const auto first = std::min_element(asked_.begin(), asked_.end(),
                                        [](const Asked& a, const Asked& b) { return a.at < b.at; });
    const bool heard = first != asked_.end() && first->at != Time::max() && first->at <= until;
    if (!heard && until > kStart + 1h) {
      tell("wait for ever");
      return false;
    }
    now_ = heard ? first->at : until + row_.late;
    if (!heard) return true;
    const bool keeps_saying_so = first->source.does == Does::keeps_saying_so;
    if (first->source.does == Does::fetches_itself || keeps_saying_so) {
      const auto repeats = keeps_saying_so ? Repeats::yes : Repeats::no;
      plan.peer_waits_itself(first->question.number, repeats, now_);
      if (!std::exchange(first->waits, true)) tell(first->source.name + " waits itself");
      first->at = keeps_saying_so ? now_ + peers::kHeartbeat : Time::max();
      const auto end = first->question.asked + first->source.ends;
      if (!keeps_saying_so || first->at < end) return true;
      first->source.does = first->source.at_end;
      first->at = first->source.does == Does::is_silent ? Time::max() : end;
      return true;
    }
    const auto asked = *first;
    asked_.erase(first);
    return asked.question.peer ? hear_peer(plan, asked) : hear_origin(plan, asked);
  }

  bool hear_peer(ChoicePlan& plan, const Asked& asked) {
    const auto& source = asked.source;
    if (asked.question.on_trial) asked.question.peer->accuracy.probation().end_trial();
    if (source.does == Does::has) {
      tell(source.name + " has");
      plan.peer_has(asked.question.number);
      tell_left(plan);
      return false;
    }
    if (source.does == Does::has_other || source.does == Does::may_be_cut) {
      tell(source.name + (source.does == Does::has_other ? " has another" : " is put off"));
      plan.peer_has(asked.question.number);
      if (source.does == Does::may_be_cut) plan.put_off(asked.question.peer);
      return true;
    }
    tell(source.name + (source.does == Does::fails ? " fails" : " has not"));
    if (auto fetcher = first_left_of(source.names_fetcher))
      plan.fetcher_named(asked.question.number, std::move(fetcher));
    using No = ChoicePlan::No;
    const auto no = source.does == Does::fails ? No::failed : No::said;
    plan.peer_has_not(asked.question.number, no, now_);
    return true;
  }

  bool hear_origin(ChoicePlan& plan, const Asked& asked) {
    const auto& source = asked.source;
    if (source.does == Does::has) {
      tell(source.name + " answers");
      tell_left(plan);
      return false;
    }
    tell(source.name + (source.does == Does::fails ? " fails" : " errs"));
    using Failed = ChoicePlan::Failed;
    const auto how = source.does == Does::fails ? Failed::on_the_way : Failed::itself;
    return plan.origin_has_failed(asked.question.number, how, now_);
  }

  // The first of them that is not given up.
  [[nodiscard]] peers::PeerRef first_left_of(std::string_view names) const {
    for (const char name : names) {
      for (const auto& peer : directory_.peers()) {
        const bool is_left = std::find(given_up_.begin(), given_up_.end(), peer) == given_up_.end();
        if (is_left && peer->name == std::string_view(&name, 1)) return peer;
      }
    }
    return nullptr;
  }

  void tell_left(const ChoicePlan& plan) {
    for (const auto& one : asked_) {
      const auto left = how_left(one.question, Silence::unexcused, now_ - plan.our_delay());
      if (left != Left::in_time) tell(one.source.name + " was slow");
    }
  }

  const Played& row_;
  peers::PeerDirectory directory_;
  std::map<std::string, Source> sources_;
  Hedges hedges_;
  Time now_ = kStart;
  std::vector<Asked> asked_;
  std::vector<peers::PeerRef> given_up_;
  std::deque<peers::Asking> others_;
  std::string told_;
};

}  // namespace proxy::sources::plays
