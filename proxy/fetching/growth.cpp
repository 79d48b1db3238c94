#include "proxy/fetching/growth.hpp"

#include <algorithm>

#include "proxy/blocks/whole_check.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/policy/content.hpp"

namespace proxy::fetching {

using net::Task;

// Begins only before the first byte of the body, and only if the head does not tell the length.
void Growth::begin_if_needed(const Incoming& incoming, Verified verified) {
  if (growing_ || incoming.length || context_.fill().received() > 0) return;
  auto& access = context_.access;
  is_named_ = policy::digest_of(incoming.attempt.head().fields, context_.request()).has_value();
  const auto& entry = *incoming.entry;
  const bool may = (verified == Verified::yes || !is_named_) && entry.status == 200 &&
                   !entry.variant().never_matches() && !entry.giver().guest &&
                   access.cache().is_for_disk(context_.job.key) &&
                   access.cache().may_be_kept_in_blocks(access.cache().large_from() + 1);
  if (may) growing_.emplace(access.cache(), context_.job.key, context_.received(incoming.attempt));
}

std::uint32_t Growth::room(std::uint32_t most) const {
  if (!growing_) return most;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, growing_->room()));
}

Task<tiers::BlockKept> Growth::add(Incoming& incoming, cache::Slice piece) {
  auto kept = growing_->add(std::move(piece));
  while (kept == tiers::BlockKept::yes && growing_->has_full_block()) {
    co_await context_.access.cached().let_the_disk_catch_up(context_.patience);
    kept = growing_->store_block();
  }
  if (kept == tiers::BlockKept::yes) {
    if (growing_->due()) store_begun(incoming);
    co_return kept;
  }
  if (growing_->too_large()) erase_begun();
  growing_.reset();
  co_return kept;
}

Task<void> Growth::end() {
  if (large()) co_await context_.access.cached().let_the_disk_catch_up(context_.patience);
}

Growth::ObjectStored Growth::store(const Incoming& incoming) {
  const auto object = growing_->finish(context_.received(incoming.attempt));
  if (!object) return ObjectStored::not_all_kept;
  if (!length_is_known() && !context_.store(object, incoming.superseded)) return ObjectStored::no;
  blocks::record_kept_blocks(context_.access, context_.job.key, *object, context_.request());
  return ObjectStored::yes;
}

void Growth::store_what_came(Incoming& incoming, const upstream::Failure& cut) {
  // If the body is damaged, the bytes before the damage are not to be trusted either.
  if (cut.what == upstream::Failure::What::malformed) return erase_begun();
  store_begun(incoming);
}

// Stores an entry of the blocks kept so far. It serves later requests if the body is cut or this
// process ends. A later entry supersedes it. If others fetched the rest of a body that a digest
// names, nobody would verify what both have stored.
void Growth::store_begun(Incoming& incoming) {
  if (is_named_ || cache::strong_validator(*incoming.entry).empty() || length_is_known()) return;
  const auto begun = growing_->begun(context_.received(incoming.attempt));
  if (context_.store(begun, incoming.superseded)) incoming.superseded = begun;
}

void Growth::erase_begun() {
  if (growing_->noted() && !length_is_known()) context_.erase_stored();
}

// Whether another request has meanwhile fetched the rest of this body, so that the whole is stored.
bool Growth::length_is_known() const {
  const auto stored = context_.in_memory();
  return stored && stored->object() == growing_->object() && !stored->range();
}

}  // namespace proxy::fetching
