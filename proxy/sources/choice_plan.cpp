#include "proxy/sources/choice_plan.hpp"

#include <algorithm>
#include <utility>

namespace proxy::sources {
namespace {

// So many claimants come before the origin, if there are as many, even if the first uses up all of
// the budget's patience; each has Budget::kLeastPatience: one silent neighbour is no reason to ask
// the origin for what another has.
constexpr std::size_t kAlwaysAsked = 2;

}  // namespace

ChoicePlan::ChoicePlan(Given given, Hedges& hedges)
    : given_(std::move(given)),
      hedges_(hedges),
      by_route_(given_.route && given_.route->has_choice()) {}

void ChoicePlan::begin(Time now) {
  begun_ = now;
  // Every request earns, also one that never asks twice: the share is one of all requests.
  hedges_.earn();
  if (given_.nobody_else) given_.candidates.add_reserve();
  // Without the origin as the next source, nobody would answer the client while the trial lasts.
  auto peer = given_.route ? given_.candidates.begin_trial() : nullptr;
  if (!peer) return;
  if (!hedges_.take()) {
    peer->accuracy.probation().end_trial();
    return given_.candidates.put_in_reserve(std::move(peer));
  }
  trial_ = add({.peer = std::move(peer), .asked = begun_, .on_trial = true, .seen_out = true});
}

ChoicePlan::Action ChoicePlan::next(Time now) {
  if (trial_) return Ask{*std::exchange(trial_, std::nullopt)};
  if (now < next_source_at_) return wait();
  const bool origin_works = origin_asked_ && !origin_failed_;
  return origin_works ? ask_next_route(now) : ask_next_source(now);
}

ChoicePlan::Action ChoicePlan::wait() const {
  if (under_way_.empty() && next_source_at_ == Time::max()) return End{};
  return Wait{next_source_at_};
}

ChoicePlan::Action ChoicePlan::ask_next_source(Time now) {
  auto& candidates = given_.candidates;
  const auto& budget = given_.budget;
  const bool in_time = candidates.asked() < kAlwaysAsked || now - begun_ < budget.patience;
  const bool may_ask = origin_failed_ || (in_time && !asks_origin_first());
  const bool claimant_left = may_ask && candidates.left();
  const bool may_ask_origin = given_.route && !origin_failed_;
  if (!claimant_left && !may_ask_origin) {
    next_source_at_ = Time::max();
    // Where the caller has another source, it does not wait for slow answers.
    const bool is_last_hope = origin_failed_ || given_.nobody_else;
    return is_last_hope ? wait() : Action(End{});
  }
  const bool alone = would_hedge() && !hedges_.take();
  if (alone) settle(now);
  if (claimant_left) return Ask{to_claimant(candidates.next(), now), alone};
  const bool is_only_source = under_way_.empty() && !candidates.left() && !candidates.reserve();
  if (is_only_source && !by_route_) return End{};
  return Ask{to_origin(*given_.route, now), alone};
}

// While a parent is silent, the servers of the route that have not been asked are the next source.
// If there are too many second questions, the parent is waited for: Fetch bounds that.
ChoicePlan::Action ChoicePlan::ask_next_route(Time now) {
  const bool is_due = now >= by_rest_at_;
  next_source_at_ = is_due ? Time::max() : by_rest_at_;
  if (under_way_.empty()) return End{};
  if (!is_due) return wait();
  by_rest_at_ = Time::max();
  const auto last = std::find_if(under_way_.rbegin(), under_way_.rend(),
                                 [](const UnderWay& one) { return !one.is_peer; });
  if (last == under_way_.rend()) return wait();
  return AskRestOfRoute{last->number};
}

std::optional<ChoicePlan::Question> ChoicePlan::route_goes_on(upstream::Route rest, Time now) {
  if (rest.leads_nowhere() || !hedges_.take()) return std::nullopt;
  given_.route = rest;
  return to_origin(std::move(rest), now);
}

// The origin's time is unknown, and asking tells it.
bool ChoicePlan::asks_origin_first() const {
  const auto& candidates = given_.candidates;
  return would_hedge() && candidates.left() &&
         origin_comes_first(candidates.first_left()->accuracy.first_byte(), given_.budget);
}

// Whether another question would be the second one for the same answer. A trial counts for itself.
bool ChoicePlan::would_hedge() const {
  return std::any_of(under_way_.begin(), under_way_.end(),
                     [](const UnderWay& one) { return !one.on_trial; });
}

ChoicePlan::Question ChoicePlan::to_claimant(const peers::PeerRef& peer, Time now) {
  const auto takes = peer->accuracy.answers();
  const auto latest = begun_ + given_.budget.patience;
  const auto patience = patience_with(takes, given_.budget);
  next_source_at_ = patience == Budget::kEndless
                        ? Time::max()
                        : std::max(now + std::min(patience, Budget::kLeastPatience),
                                   std::min(now + patience, latest));
  return add({.peer = peer,
              .asked = now,
              .expected_by = now + std::max(patience, takes.p95()),
              .seen_out = !takes.measured()});
}

ChoicePlan::Question ChoicePlan::to_origin(upstream::Route route, Time now) {
  Question question{.asked = now, .seen_out = !given_.origin_takes.measured()};
  by_rest_at_ = Time::max();
  if (route.has_choice()) {
    question.expected_by = now + patience_with_parent(given_.origin_takes, given_.prefer);
    by_rest_at_ = route.begins_in_doubt(now) ? now : question.expected_by;
  }
  next_source_at_ = by_rest_at_;
  origin_asked_ = true;
  question.route = std::move(route);
  return add(std::move(question));
}

ChoicePlan::Question ChoicePlan::add(Question question) {
  question.number = ++questions_;
  under_way_.push_back({question.number, !!question.peer, question.on_trial});
  return question;
}

bool ChoicePlan::remove(Number question) {
  const auto found = std::find_if(under_way_.begin(), under_way_.end(),
                                  [&](const UnderWay& one) { return one.number == question; });
  if (found == under_way_.end()) return false;
  const bool was_trial = found->on_trial;
  under_way_.erase(found);
  return was_trial;
}

// While a trial is under way, the next source has its own turn.
void ChoicePlan::peer_has_not(Number question, Time now) {
  const bool was_trial = remove(question);
  if (!was_trial || under_way_.empty()) next_source_at_ = now;
}

void ChoicePlan::peer_has(Number question) {
  remove(question);
  next_source_at_ = begun_;
}

void ChoicePlan::peer_waits_itself() {
  if (origin_asked_) return;
  next_source_at_ = std::max(next_source_at_, begun_ + patience_with_fetch(given_.origin_takes));
}

// Only the key's owner, which is asked first, knows who fetches.
void ChoicePlan::fetcher_named(peers::PeerRef fetcher) {
  if (given_.candidates.asked() <= 1) given_.candidates.add(std::move(fetcher));
}

bool ChoicePlan::origin_has_failed(Number question, Failed how, Time now) {
  remove(question);
  given_.candidates.add_reserve();
  const bool asks_peer = std::any_of(under_way_.begin(), under_way_.end(),
                                     [](const UnderWay& one) { return one.is_peer; });
  const bool other_route = how == Failed::on_the_way && !under_way_.empty();
  if (!given_.candidates.left() && !asks_peer && !other_route) return false;
  next_source_at_ = now;
  return origin_failed_ = true;
}

void ChoicePlan::settle(Time now) {
  under_way_.clear();
  origin_asked_ = origin_failed_;
  by_rest_at_ = Time::max();
  next_source_at_ = now;
}

std::optional<Place> place_of(const peers::PeerRef& peer, const ChoicePlan::Given& given,
                              const Hedges& hedges) {
  const auto listed = given.candidates.place_of(peer);
  if (!listed) return std::nullopt;
  if (*listed == Ask::yes || given.nobody_else) return Place::in_line;
  if (*listed == Ask::no) return Place::too_slow;
  if (!given.route) return Place::no_origin;
  if (given.candidates.next_trial() != peer) return Place::other_trial;
  return hedges.allow_next() ? Place::tried : Place::no_hedge;
}

Left how_left(const ChoicePlan::Question& question, Silence silence, ChoicePlan::Time now) {
  if (silence == Silence::none || now < question.expected_by) return Left::in_time;
  if (!question.peer) return Left::late_origin;
  return silence == Silence::excused ? Left::in_time : Left::late_peer;
}

}  // namespace proxy::sources
