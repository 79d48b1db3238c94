#include "proxy/sources/candidates.hpp"

#include <algorithm>

#include "proxy/tiers/placement.hpp"

namespace proxy::sources {

using namespace std::chrono_literals;
using Time = Budget::Time;

namespace {

// Times of machines in one room, and of one behind a line, lie far apart: so a bound between them
// is no delicate choice.
constexpr Time kNearOrigin = 10ms;
constexpr Time kNearOriginMore = 5ms;  // how much longer than a near origin a neighbour may take
// Two times that are less apart than this tell nothing of each other.
constexpr Time kNoise = 1ms;
constexpr Time kLeastInBody = 50ms;
constexpr Time kLeastInFetchedBody = 1s;  // the connection outlasts no shorter wait: Fetch::body()
constexpr Time kAssumed = 50ms;           // of what was never measured
constexpr Time kWithoutBudget = 40ms;
constexpr Time kPatienceForLatency = 10ms;  // of a budget that puts the client's time first
// Of one neighbour: so short a silence is mostly one of the network or of a busy machine.
constexpr Time kLeastWithOne = 10ms;
// The question costs a round trip in vain for most keys: it has to gain that much for the others.
constexpr int kLeastGain = 8;
constexpr int kLeastGainForStale = 2;
constexpr double kMostly = 0.5;
constexpr Time kNoiseOfFetch = 20ms;
constexpr Time kAssumedOfFetch = 500ms;
constexpr int kMoreIfHeard = 4;
constexpr Time kAssumedIfHeard = 4s;  // twice the time of a slow origin: a lost fetch begins anew
constexpr Time kAssumedOfParent = 200ms;
constexpr Time kEndless = Budget::kEndless;

}  // namespace

std::chrono::seconds least_freshness(std::chrono::seconds lifetime, std::chrono::seconds ttl,
                                     const peers::FirstByte& origin) {
  // A copy of ours says that it lasts for 1 s in the last second, too.
  constexpr std::chrono::seconds kMoreThanASecond{2};
  // A new copy is as old when it arrives as the origin took for it.
  const auto age = origin.measured() ? std::chrono::round<std::chrono::seconds>(origin.mean()) : 0s;
  return ttl == 0s && lifetime - age >= kMoreThanASecond ? kMoreThanASecond : 0s;
}

Budget budget_against(const peers::FirstByte& origin, config::Prefer prefer) {
  if (prefer == config::Prefer::neighbours) return {kEndless, kEndless};
  const bool spares = prefer == config::Prefer::origin_load;
  // Without a time of the origin nothing is too slow, but the origin is asked soon, which tells it.
  if (!origin.measured()) return {std::nullopt, spares ? kWithoutBudget : kPatienceForLatency};
  const auto takes = origin.mean();
  if (!spares) return {takes + kNoise, kPatienceForLatency};
  // Sparing a distant origin is worth some waiting, in proportion to what its clients wait anyway.
  const auto most = 3 * takes + 20ms;
  return {takes < kNearOrigin ? takes + kNearOriginMore : most, most - takes};
}

Ask whether_to_ask(const peers::Accuracy::Standing& claimant, const Budget& budget,
                   peers::SteadyTime now) {
  // Before its times, which are those of the days when it worked.
  if (claimant.on_probation) return Ask::on_trial;
  const auto& takes = claimant.first_byte;
  if (!takes.measured() || !budget.longest || takes.mean() <= *budget.longest) return Ask::yes;
  return now - claimant.measured >= peers::kFades ? Ask::on_trial : Ask::no;
}

bool origin_comes_first(const peers::FirstByte& claimant, const Budget& budget) {
  return !budget.longest && claimant.measured() && !tiers::is_near(claimant);
}

Time patience_with(const peers::FirstByte& claimant, const Budget& budget) {
  if (budget.patience == kEndless) return kEndless;
  if (!claimant.measured()) return std::min(kAssumed, budget.patience);
  if (origin_comes_first(claimant, budget)) return 0ms;
  return std::clamp(claimant.p95(), kLeastWithOne, std::max(kLeastWithOne, budget.patience));
}

Time patience_with_member(const peers::FirstByte& neighbour, const Budget& budget) {
  if (budget.patience == kEndless) return kEndless;
  const auto takes = neighbour.measured() ? neighbour.p95() : kAssumed;
  return std::clamp(takes, kLeastWithOne, std::max(kLeastWithOne, budget.patience));
}

bool site_pays(const peers::FirstByte& origin, const peers::FirstByte& neighbour,
               config::Prefer prefer, Held held, SiteLuck luck) {
  if (prefer == config::Prefer::neighbours) return true;
  if (prefer == config::Prefer::latency) return false;
  if (!origin.measured()) return true;
  const int least_gain = held == Held::stale ? kLeastGainForStale : kLeastGain;
  if (luck.share() >= kMostly && origin.mean() >= kNearOrigin) return true;
  const auto worth = luck.share() * (*budget_against(origin, prefer).longest - origin.mean());
  return least_gain * neighbour.mean() <= origin.mean() || neighbour.mean() <= worth;
}

peers::PeerRef member_to_ask(const Unclaimed& unclaimed,
                             const peers::SiteQuestion::GivenUp& given_up, peers::SteadyTime now) {
  const auto& [key, directory, fetches, ours, origin_takes, budget, prefer, held, luck,
               is_lasting] = unclaimed;
  auto owner = directory.owner(key, ours, now, given_up);
  if (owner) {
    const bool is_worth_it = is_lasting && prefer != config::Prefer::latency;
    const bool pays =
        is_worth_it || site_pays(origin_takes, owner->accuracy.answers(), prefer, held, luck);
    return pays ? owner : nullptr;
  }
  const auto fetcher = fetches.fetcher_of(key, now);
  return fetcher ? fetcher_to_ask(unclaimed, *fetcher, given_up, now) : nullptr;
}

peers::PeerRef fetcher_to_ask(const Unclaimed& unclaimed, peers::Epoch fetcher,
                              const peers::SiteQuestion::GivenUp& given_up, peers::SteadyTime now) {
  if (std::find(given_up.begin(), given_up.end(), fetcher) != given_up.end()) return nullptr;
  auto peer = unclaimed.directory.member(fetcher, now);
  if (!peer) return nullptr;
  const auto takes = peer->accuracy.answers();
  const auto& longest = unclaimed.budget.longest;
  if (unclaimed.is_lasting && unclaimed.prefer != config::Prefer::latency) return peer;
  return !takes.measured() || !longest || takes.mean() <= *longest ? peer : nullptr;
}

Time patience_in_body(const peers::FirstByte& neighbour, const Budget& budget) {
  return std::max({kLeastInBody, neighbour.p95(), budget.patience});
}

Time patience_in_fetched_body(const peers::FirstByte& origin) {
  return std::max(kLeastInFetchedBody, patience_with_fetch(origin));
}

Time patience_with_parent(const peers::FirstByte& origin, config::Prefer prefer) {
  if (prefer == config::Prefer::neighbours) return kEndless;
  return origin.measured() ? origin.p95() + kNoiseOfFetch : kAssumedOfParent;
}

Time patience_with_fetch(const peers::FirstByte& origin, Repeats repeats) {
  const bool is_heard = repeats == Repeats::yes;
  if (!origin.measured()) return is_heard ? kAssumedIfHeard : kAssumedOfFetch;
  return (is_heard ? kMoreIfHeard : 1) * (origin.p95() + kNoiseOfFetch);
}

Candidates::Candidates(peers::Claimants claimants, const Budget& budget, peers::SteadyTime now,
                       const std::function<std::uint32_t()>& draw) {
  for (auto& peer : claimants) {
    const auto asks = whether_to_ask(peer->accuracy.standing(), budget, now);
    auto& place = asks == Ask::yes ? in_line_ : asks == Ask::no ? too_slow_ : on_trial_;
    place.push_back(std::move(peer));
  }
  order_by_choice(
      std::span(in_line_.data(), in_line_.size()),
      [](const peers::PeerRef& peer) { return peer->accuracy.standing(); }, draw);
}

// Only explanations ask this: the lists hold a handful, so nothing is kept for it.
std::optional<Ask> Candidates::place_of(const peers::PeerRef& peer) const {
  const auto has = [&](const peers::Claimants& some) {
    return std::find(some.begin(), some.end(), peer) != some.end();
  };
  if (has(in_line_)) return Ask::yes;
  if (has(on_trial_)) return Ask::on_trial;
  return has(too_slow_) ? std::optional(Ask::no) : std::nullopt;
}

peers::PeerRef Candidates::next_trial() const {
  const auto free = std::find_if(on_trial_.begin(), on_trial_.end(), [](const auto& peer) {
    return !peer->accuracy.probation().has_trial();
  });
  return free == on_trial_.end() ? nullptr : *free;
}

peers::PeerRef Candidates::begin_trial() {
  const auto free = std::find_if(on_trial_.begin(), on_trial_.end(), [](const auto& peer) {
    return peer->accuracy.probation().begin_trial();
  });
  if (free == on_trial_.end()) return nullptr;
  auto peer = std::move(*free);
  on_trial_.erase(free);
  return peer;
}

void Candidates::add_reserve() {
  for (auto* const some : {&on_trial_, &too_slow_}) {
    for (auto& peer : *some) in_line_.push_back(std::move(peer));
    some->clear();
  }
}

}  // namespace proxy::sources
