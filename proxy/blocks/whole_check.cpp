#include "proxy/blocks/whole_check.hpp"

#include <utility>

#include "proxy/tiers/cache.hpp"

namespace proxy::blocks {

using net::Task;

namespace {

void add_to(mirrors::ContentCheck& hash, const cache::Body& body) {
  for (const auto& slice : body.slices) hash.add({slice.block->data(), slice.size});
}

}  // namespace

WholeCheck::WholeCheck(FetchAccess& access, const digest::Key& key,
                       cache::Ref<const cache::Entry> object, const mirrors::ContentName& name)
    : access_(access),
      key_(key),
      object_(std::move(object)),
      name_(name),
      hash_(name, object_->body.size) {}

void WholeCheck::begin(std::uint32_t block, std::uint64_t offset) {
  block_ = block;
  in_order_ = block == next_ && offset == 0;
  if (in_order_) ++next_;
}

void WholeCheck::add(std::string_view bytes) {
  if (in_order_) hash_.add(bytes);
}

Task<bool> WholeCheck::finds_wrong(const fill::Fill& fill, cache::Slice last) {
  const auto count = cache::blocks_in(object_->body.size);
  if (in_order_ && next_ == count) co_return !hash_.matches();
  if (lacks_others()) co_return false;
  auto shown = fill.body();
  if (!shown.slices.empty() && shown.slices.back().block == last.block) {
    shown.slices.replace_back(std::move(last));
  } else {
    shown.slices.push_back(std::move(last));
  }
  co_return co_await finds_stored_wrong(std::move(shown));
}

// Each block is looked for until it is found, and then no more: a run of many blocks would else ask
// the disk's index for all of them at each one.
bool WholeCheck::lacks_others() {
  const auto count = cache::blocks_in(object_->body.size);
  const auto is_here = [&](std::uint32_t block) {
    return block == block_ || access_.cache().has_block(key_, *object_, block);
  };
  while (found_ < count && is_here(found_)) ++found_;
  return found_ < count;
}

// One block at a time, so the memory for it needs no slot.
Task<bool> WholeCheck::finds_stored_wrong(cache::Body block) {
  mirrors::ContentCheck all(name_, object_->body.size);
  for (std::uint32_t i = 0; i < cache::blocks_in(object_->body.size); ++i) {
    if (i == block_) {
      add_to(all, block);
      continue;
    }
    const auto stored = co_await access_.cached().read_block(key_, object_, i);
    if (!stored.block) co_return false;
    add_to(all, stored.block->body);
    // A block that memory has is no wait, and each takes milliseconds to hash.
    co_await net::asio::post(access_.executor(), net::use_task);
  }
  co_return !all.matches();
}

}  // namespace proxy::blocks
