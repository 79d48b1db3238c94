#include "proxy/tiers/placement.hpp"

namespace proxy::tiers {
namespace {

constexpr std::uint64_t kLarge = 1 << 20;
constexpr unsigned kForSmall = 2;
constexpr unsigned kForLarge = 3;

// Counts fewer URLs than a cache::Admission does: what is requested again only after long is as
// well left with the neighbour.
constexpr std::uint64_t kShare = 4;

}  // namespace

bool is_near(const peers::FirstByte& neighbour) {
  return neighbour.measured() && neighbour.mean() <= peers::kNear;
}

Placement::Placement(cache::Budget& budget)
    : asked_(budget, cache::AskedCounts::fitting(budget.limit() / kShare)) {}

void Placement::record_asked(const digest::Key& url_key) {
  asked_.note(url_key);
}

// Nearness counts as the estimate will be with this answer.
bool Placement::leaves_there(config::Duplicates setting, const digest::Key& url_key,
                             const Offer& offer) {
  const auto takes = offer.took ? offer.takes.with(*offer.took) : offer.takes;
  const bool at_hand = offer.role == config::Role::sibling && is_near(takes);
  if (!at_hand || offer.renews || offer.long_part) return false;
  if (setting != config::Duplicates::second) return setting == config::Duplicates::never;
  if (asked_.of(url_key) < (offer.length.value_or(0) > kLarge ? kForLarge : kForSmall)) return true;
  asked_.forget(url_key);
  return false;
}

}  // namespace proxy::tiers
