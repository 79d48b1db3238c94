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

bool ShardClaims::choose(Claimable& variant, const ClaimTerms& terms, const ClaimCounts& variants,
                         Time now) {
  variant.set_claim(terms.until, 0);
  if (now + kClaimAhead < variant.claimable_until()) return true;
  variant.set_claim(terms.by_rule_until, terms.rule);
  const bool fits = variants.by_rule == 0 || variants.rule == terms.rule;
  return terms.rule != 0 && fits && now + kClaimAhead < variant.claimable_until();
}

void ShardClaims::add(Claimable& variant, const ClaimTerms& terms, ClaimCounts& variants,
                      Time now) {
  record_time(now);
  if (!choose(variant, terms, variants, now)) return;
  if (variant.by_rule()) variants.rule = variant.rule();
  order_.insert(variant);
  // The key has one claim, whatever the number of its variants.
  if (variants.count(variant.rule())++ > 0) return;
  const bool is_new = change(variant.claim(), KeyChange::What::added);
  if (is_new && newly_claimed_) newly_claimed_->ring();
}

void ShardClaims::end(Claimable& variant, ClaimCounts& variants) {
  if (!variant.is_linked()) return;
  order_.erase(Order::s_iterator_to(variant));
  if (--variants.count(variant.rule()) > 0) return;
  // If the disk claims the key still, it has not left the digest.
  const bool departs = change(variant.claim(), KeyChange::What::removed);
  if (departs) departures_.remember(variant.key, latest_);
}

Claimable* ShardClaims::outlived(Time now) {
  record_time(now);
  if (order_.empty() || now + kClaimAhead < order_.begin()->claimable_until()) return nullptr;
  return &*order_.begin();
}

bool ShardClaims::change(const digest::Claim& claim, KeyChange::What what) {
  if (below_) return below_->change_above(claim, what);
  changes_.append({claim.key, what, claim.rule});
  return true;
}

}  // namespace proxy::cache
