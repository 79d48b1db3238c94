#include "proxy/cache/shard_claims.hpp"

namespace proxy::cache {
namespace {

// Each shard's share of the budget for departed keys: all shards together take a thousandth.
constexpr std::uint64_t kDeparturesShare = 64 * 1024;

}  // namespace

ShardClaims::ShardClaims(Budget& budget, const StoreLimits& limits, disk::Index* below,
                         threads::Alarm* newly_claimed)
    : below_(below),
      newly_claimed_(newly_claimed),
      changes_(limits.changes),
      departures_(budget, budget.limit() / kDeparturesShare, limits.remembered) {}

void ShardClaims::add(Claimable& variant, std::size_t& variants, Time now) {
  tell(now);
  if (now + kClaimAhead >= variant.claimable_until) return;
  order_.insert(variant);
  if (variants++ > 0) return;
  const bool is_new = change(variant.key, KeyChange::What::added);
  if (is_new && newly_claimed_) newly_claimed_->ring();
}

void ShardClaims::end(Claimable& variant, std::size_t& variants) {
  if (!variant.is_linked()) return;
  order_.erase(Order::s_iterator_to(variant));
  if (--variants > 0) return;
  const bool departs = change(variant.key, KeyChange::What::removed);
  if (departs) departures_.remember(variant.key, latest_);
}

Claimable* ShardClaims::outlived(Time now) {
  tell(now);
  if (order_.empty() || now + kClaimAhead < order_.begin()->claimable_until) return nullptr;
  return &*order_.begin();
}

bool ShardClaims::change(const digest::Key& key, KeyChange::What what) {
  if (below_) {
    return what == KeyChange::What::added ? below_->claim_above(key) : below_->unclaim_above(key);
  }
  changes_.append(key, what);
  return true;
}

}  // namespace proxy::cache
