#include "proxy/tiers/placement.hpp"

#include "proxy/cache/store.hpp"

namespace proxy::tiers {
namespace {

constexpr std::uint64_t kLarge = 1 << 20;
constexpr unsigned kForSmall = 2;
constexpr unsigned kForLarge = 3;
// With caches that hold 4 to 20 % of all URLs each, 4 and 16 proxies ask the origin a fifth less
// than with kForSmall alone, and have a tenth to a sixth fewer hits of their own (virtual_mesh).
constexpr unsigned kWhileLosing = 6;
constexpr unsigned kWary = 16;  // answers, since the store lost something
constexpr auto kRelaxed = std::memory_order_relaxed;

// Counts fewer URLs than a cache::Admission does: what is requested again only after long is as
// well left with the neighbour.
constexpr std::uint64_t kShare = 4;

}  // namespace

bool is_near(const peers::FirstByte& neighbour) {
  return neighbour.measured() && neighbour.mean() <= peers::kNear;
}

Placement::Placement(cache::Budget& budget, const cache::Totals* totals)
    : totals_(totals), asked_(budget, cache::AskedCounts::fitting(budget.limit() / kShare)) {}

void Placement::record_asked(const digest::Key& url_key) {
  asked_.record(url_key);
}

// Two threads may count the same duplicate, which does no harm.
bool Placement::store_loses() {
  if (!totals_) return false;
  const auto lost = totals_->lost.load(kRelaxed);
  if (lost_.exchange(lost, kRelaxed) != lost) wary_for_.store(kWary, kRelaxed);
  const auto left = wary_for_.load(kRelaxed);
  if (left > 0) wary_for_.store(left - 1, kRelaxed);
  return left > 0;
}

// Nearness counts as the estimate will be with this answer.
bool Placement::leaves_there(config::Duplicates setting, const digest::Key& url_key,
                             const Offer& offer) {
  const auto takes = offer.took ? offer.takes.with(*offer.took) : offer.takes;
  const bool at_hand = offer.role == config::Role::sibling && is_near(takes);
  if (!at_hand || offer.renews || offer.long_part) return false;
  if (setting != config::Duplicates::second) return setting == config::Duplicates::never;
  const auto requests = asked_.of(url_key);
  if (requests < (offer.length.value_or(0) > kLarge ? kForLarge : kForSmall)) return true;
  if (store_loses() && requests < kWhileLosing) return true;
  asked_.forget(url_key);
  return false;
}

}  // namespace proxy::tiers
