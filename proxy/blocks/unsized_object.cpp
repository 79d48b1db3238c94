#include "proxy/blocks/unsized_object.hpp"

#include <utility>

#include "proxy/cache/combine.hpp"
#include "proxy/tiers/cache.hpp"

namespace proxy::blocks {

UnsizedObject::UnsizedObject(tiers::Cache& cache, const digest::Key& key,
                             const cache::Received& head)
    : cache_(cache),
      key_(key),
      // RFC 9112 6.3: without a length, only the end of the body tells it.
      object_(cache::object_entry(cache.budget, head, {cache.new_version()}, 1)) {}

tiers::BlockKept UnsizedObject::add(cache::Slice slice) {
  auto& block = pending_.back();
  size_ += slice.size;
  block.size += slice.size;
  block.slices.push_back(std::move(slice));
  if (block.size == cache::kBlockBytes) pending_.emplace_back();
  return is_large() && too_large() ? tiers::BlockKept::no : tiers::BlockKept::yes;
}

bool UnsizedObject::too_large() const {
  return !cache_.may_be_kept_in_blocks(size_);
}

bool UnsizedObject::is_large() const {
  return size_ > cache_.large_from();
}

// A small body is stored as a whole entry, and none of its blocks is kept.
bool UnsizedObject::has_full_block() const {
  return is_large() && pending_.size() > 1;
}

tiers::BlockKept UnsizedObject::store_block() {
  auto body = std::move(pending_.front());
  pending_.erase(pending_.begin());
  return cache_.store_block_of_new(key_, object_, {kept_++, std::move(body), object_->giver()});
}

cache::Ref<const cache::Entry> UnsizedObject::begun(const cache::Received& head) {
  noted_ = kept_;
  return cache::begun_entry(cache_.budget, head, object(),
                            kept_ * std::uint64_t{cache::kBlockBytes});
}

cache::Ref<const cache::Entry> UnsizedObject::finish(const cache::Received& head) {
  if (pending_.back().size > 0 && store_block() == tiers::BlockKept::no) return nullptr;
  return cache::object_entry(cache_.budget, head, object(), size_);
}

}  // namespace proxy::blocks
