#include "proxy/tiers/placement.hpp"

namespace proxy {
namespace {

constexpr std::uint64_t kLarge = 1 << 20;
constexpr unsigned kForSmall = 2;
constexpr unsigned kForLarge = 3;

// Counts fewer URLs than a cache::Admission does: what is requested again only after long is as
// well left with the neighbour.
constexpr std::uint64_t kShare = 4;

}  // namespace

Placement::Placement(cache::Budget& budget)
    : asked_(budget, cache::AskedCounts::fitting(budget.limit() / kShare)) {}

void Placement::note_asked(const digest::Key& url_key) {
  asked_.note(url_key);
}

bool Placement::stores_duplicate(config::Duplicates setting, const digest::Key& url_key,
                                 std::optional<std::uint64_t> length) {
  if (setting != config::Duplicates::second) return setting == config::Duplicates::always;
  if (asked_.of(url_key) < (length.value_or(0) > kLarge ? kForLarge : kForSmall)) return false;
  asked_.forget(url_key);
  return true;
}

}  // namespace proxy
