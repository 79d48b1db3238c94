#include "proxy/sources/choice_plan.hpp"

#include <algorithm>
#include <utility>

namespace proxy::sources {
namespace {

// So many claimants come before the origin, if there are as many, even if the first uses up all of
// the budget's patience: one silent neighbour is no reason to ask the origin for what another has.
constexpr std::size_t kAlwaysAsked = 2;
// How long a claimant has before the next source is asked, even if the budget's patience is over.
constexpr Budget::Time kLeastAfterBudget = std::chrono::milliseconds{10};

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
  // Claimants are raced all the same: that spares the client time, and the origin is far down.
  auto more = our_delay_.more_after(next_source_at_, now);
  const bool goes_on = given_.candidates.of_site() && !under_way_.none();
  if (goes_on) more = std::max(more, member_.more_in_crowd(now));
  if (goes_on && more > Time::duration(0))
    return Wait{next_source_at_ = our_delay_.go_on(more, now)};
  if (origin_ == OriginIs::asked) return ask_next_route(now);
  auto member = origin_failed() ? nullptr : member_.give_up(now);
  return member ? AskNextOwner{std::move(member)} : ask_next_source(now);
}

ChoicePlan::Action ChoicePlan::wait() {
  if (under_way_.none() && next_source_at_ == Time::max()) return End{};
  our_delay_.begin_wait(next_source_at_);
  return Wait{next_source_at_};
}

ChoicePlan::Action ChoicePlan::ask_next_source(Time now) {
  auto& candidates = given_.candidates;
  const auto& budget = given_.budget;
  const bool in_time =
      candidates.of_site() || candidates.asked() < kAlwaysAsked || now - begun_ < budget.patience;
  const bool may_ask = origin_failed() || (in_time && !asks_origin_first());
  const bool claimant_left = may_ask && candidates.left();
  const bool may_ask_origin = given_.route && !origin_failed();
  if (!claimant_left && !may_ask_origin) {
    next_source_at_ = Time::max();
    // Where the caller has another source, it does not wait for slow answers.
    const bool is_last_hope = origin_failed() || given_.nobody_else;
    return is_last_hope ? wait() : Action(End{});
  }
  // A question to a member of the site is cheap, and spares the origin one.
  const bool is_free = claimant_left && candidates.of_site();
  const bool alone = !is_free && under_way_.would_be_doubled() && !hedges_.take();
  if (alone) settle(now);
  if (claimant_left) return Ask{to_claimant(candidates.next(), now), alone};
  const bool is_only_source = under_way_.none() && !candidates.left() && !candidates.reserve();
  if (is_only_source && !by_route_) return End{};
  return Ask{to_origin(*given_.route, now), alone};
}

// While a parent is silent, the servers of the route that have not been asked are the next source.
// If there are too many second questions, the parent is waited for: Fetch bounds that.
ChoicePlan::Action ChoicePlan::ask_next_route(Time now) {
  const bool is_due = now >= by_rest_at_;
  next_source_at_ = is_due ? Time::max() : by_rest_at_;
  if (under_way_.none()) return End{};
  if (!is_due) return wait();
  by_rest_at_ = Time::max();
  const auto last = under_way_.last_to_origin();
  return last ? AskRestOfRoute{*last} : wait();
}

std::optional<ChoicePlan::Question> ChoicePlan::route_goes_on(upstream::Route rest, Time now) {
  if (rest.leads_nowhere() || !hedges_.take()) return std::nullopt;
  given_.route = rest;
  return to_origin(std::move(rest), now);
}

// The origin's time is unknown, and asking tells it.
bool ChoicePlan::asks_origin_first() const {
  const auto& candidates = given_.candidates;
  return !candidates.of_site() && under_way_.would_be_doubled() && candidates.left() &&
         origin_comes_first(candidates.first_left()->accuracy.answers(), given_.budget);
}

ChoicePlan::Question ChoicePlan::to_claimant(const peers::PeerRef& peer, Time now) {
  const auto takes = peer->accuracy.answers();
  const bool of_site = given_.candidates.of_site();
  const auto patience =
      of_site ? patience_with_member(takes, given_.budget) : patience_with(takes, given_.budget);
  const auto latest = (of_site ? now : begun_) + given_.budget.patience;
  next_source_at_ =
      patience == Budget::kEndless
          ? Time::max()
          : std::max(now + std::min(patience, kLeastAfterBudget), std::min(now + patience, latest));
  auto question = add({.peer = peer,
                       .asked = now,
                       .expected_by = now + std::max(patience, takes.p95()),
                       .seen_out = !takes.measured()});
  member_.ask(of_site ? peer : nullptr, question.number, {now, patience});
  return question;
}

void ChoicePlan::owner_is(peers::PeerRef owner) {
  if (owner) given_.candidates.add(std::move(owner));
}

ChoicePlan::Question ChoicePlan::to_origin(upstream::Route route, Time now) {
  Question question{.asked = now, .seen_out = !given_.origin_takes.measured()};
  by_rest_at_ = Time::max();
  if (route.has_choice()) {
    question.expected_by = now + patience_with_parent(given_.origin_takes, given_.prefer);
    by_rest_at_ = route.begins_in_doubt(now) ? now : question.expected_by;
  }
  next_source_at_ = by_rest_at_;
  origin_ = OriginIs::asked;
  question.route = std::move(route);
  return add(std::move(question));
}

ChoicePlan::Question ChoicePlan::add(Question question) {
  question.number = ++questions_;
  const bool is_owner = given_.candidates.of_site() && !member_.next_is_named;
  under_way_.add({question.number, question.peer, question.on_trial, is_owner});
  return question;
}

// While a trial is under way, the next source has its own turn. Likewise while another member of
// the site is waited for, if this one was given up and brings us no further: it has failed, has not
// got what it waited for, or names nobody whom it is worth asking now.
void ChoicePlan::peer_has_not(Number question, No no, Time now) {
  const auto was = under_way_.remove(question);
  const auto* const awaited = under_way_.find(member_.question);
  const bool is_fetching = awaited && awaited->waits_itself;
  const bool is_named = was.names_fetcher && given_.candidates.left() && !is_fetching;
  const bool is_spent = was.names_fetcher ? !is_named : was.waits_itself;
  const bool told_nothing = given_.candidates.of_site() && (no == No::failed || is_spent);
  const bool has_own_turn = was.on_trial || (told_nothing && question != member_.question);
  if (has_own_turn && !under_way_.none()) return;
  if (no == No::said) member_.peer = nullptr;
  next_source_at_ = now;
}

void ChoicePlan::peer_has(Number question) {
  under_way_.remove(question);
  member_.peer = nullptr;
  next_source_at_ = begun_;
}

bool ChoicePlan::peer_waits_itself(Number question, Repeats repeats, Time now) {
  auto* const found = under_way_.find(question);
  const bool says_it_again = found && std::exchange(found->waits_itself, true);
  if (origin_ != OriginIs::not_asked || question != member_.question) return false;
  const auto from = member_.given_up == 0 ? begun_ : now;
  auto& until = member_.patience_ends;
  if (!says_it_again && next_source_at_ != Time::max())
    until = std::max(next_source_at_, from + patience_with_fetch(given_.origin_takes, repeats));
  // Without another word, one that works cannot be told from one that waits for us.
  if (repeats == Repeats::no && until == Time::max())
    until = now + patience_with_fetch(given_.origin_takes, Repeats::yes);
  next_source_at_ = repeats == Repeats::yes ? std::min(until, now + kSilence) : until;
  return true;
}

void ChoicePlan::fetcher_named(Number question, peers::PeerRef fetcher) {
  auto* const owner = under_way_.find(question);
  if (!owner || !owner->is_owner) return;
  owner->names_fetcher = true;
  if (!fetcher || under_way_.ask(fetcher)) return;
  member_.next_is_named = true;
  given_.candidates.add(std::move(fetcher));
}

bool ChoicePlan::origin_has_failed(Number question, Failed how, Time now) {
  under_way_.remove(question);
  given_.candidates.add_reserve();
  const bool asks_peer = under_way_.ask_peer();
  const bool other_route = how == Failed::on_the_way && !under_way_.none();
  if (!given_.candidates.left() && !asks_peer && !other_route) return false;
  next_source_at_ = now;
  origin_ = OriginIs::failed;
  return true;
}

void ChoicePlan::settle(Time now) {
  under_way_.clear();
  if (!origin_failed()) origin_ = OriginIs::not_asked;
  by_rest_at_ = Time::max();
  next_source_at_ = now;
}

std::optional<Prospect> prospect_of(const peers::PeerRef& peer, const ChoicePlan::Given& given,
                                    const Hedges& hedges) {
  const auto listed = given.candidates.place_of(peer);
  if (!listed) return std::nullopt;
  if (*listed == Ask::yes || given.nobody_else) return Prospect::in_line;
  if (*listed == Ask::no) return Prospect::too_slow;
  if (!given.route) return Prospect::no_origin;
  if (given.candidates.next_trial() != peer) return Prospect::other_trial;
  return hedges.allow_next() ? Prospect::tried : Prospect::no_hedge;
}

Left how_left(const ChoicePlan::Question& question, Silence silence, ChoicePlan::Time now) {
  if (silence == Silence::none || now < question.expected_by) return Left::in_time;
  if (!question.peer) return Left::late_origin;
  return silence == Silence::excused ? Left::in_time : Left::late_peer;
}

}  // namespace proxy::sources
