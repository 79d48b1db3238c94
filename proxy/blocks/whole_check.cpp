#include "proxy/blocks/whole_check.hpp"

#include <algorithm>
#include <utility>

#include "proxy/blocks/content_record.hpp"
#include "proxy/policy/content.hpp"
#include "proxy/policy/request.hpp"

namespace proxy::blocks {

using net::Task;
using Verdict = WholeCheck::Verdict;

namespace {

// No block has this number.
constexpr std::uint32_t kNoBlock = UINT32_MAX;

void add_to(mirrors::ContentCheck& hash, const cache::Body& body) {
  for (const auto& slice : body.slices) hash.add({slice.block->data(), slice.size});
}

std::string text_of(const cache::Body& body) {
  std::string text;
  for (const auto& slice : body.slices) text.append(slice.block->data(), slice.size);
  return text;
}

bool has_all_blocks(FetchAccess& access, const digest::Key& key, const cache::Entry& object,
                    std::uint32_t but = kNoBlock) {
  // From the last one on: a run that goes through the object lacks that for the longest time.
  for (auto i = cache::blocks_in(object.body.size); i-- > 0;) {
    if (i != but && !access.cache().has_block(key, object, i)) return false;
  }
  return true;
}

}  // namespace

std::optional<mirrors::ContentName> digest_of(const cache::Entry& object,
                                              const policy::Request& request) {
  return policy::digest_of(cache::ParsedHead(object).head.fields, request);
}

void record_kept_blocks(FetchAccess& access, const digest::Key& key, const cache::Entry& object,
                        const policy::Request& request) {
  const bool is_named = digest_of(object, request).has_value();
  if (is_named && (object.range() || !has_all_blocks(access, key, object))) return;
  access.cache().record_kept_blocks(key, object);
  if (is_named) record_content(access, object, request);
}

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

Task<WholeCheck::Turn> WholeCheck::turn() {
  const auto of_object = cache::disk::block_key(key_, object_->object()->version, kNoBlock);
  for (;;) {
    const auto over = std::make_shared<net::Wakeup>(access_.executor());
    auto turn = access_.runs.settling().begin(of_object, [over] { over->notify(); });
    if (turn) co_return turn;
    co_await over->wait();
  }
}

bool WholeCheck::is_last() const {
  return block_ + 1 == cache::blocks_in(object_->body.size);
}

// A stored block that was evicted, or dropped as damaged, is missing like any other one.
Verdict WholeCheck::unreadable(std::uint32_t block) const {
  const bool is_there = access_.cache().has_block(key_, *object_, block);
  return is_there ? Verdict::unknown : Verdict::incomplete;
}

// Whoever reads the object gets some blocks from the store and others from this writer, so both
// must have the same bytes.
Task<Verdict> WholeCheck::compare_with_stored(const cache::Body& block) {
  if (!access_.cache().has_block(key_, *object_, block_)) co_return Verdict::incomplete;
  const auto stored = co_await access_.cached().read_block(key_, object_, block_);
  if (!stored.block) co_return unreadable(block_);
  const bool is_same = text_of(stored.block->body) == text_of(block);
  co_return is_same ? Verdict::incomplete : Verdict::wrong;
}

// What was hashed as it arrived is what is stored only if nobody else has written blocks meanwhile.
Task<Verdict> WholeCheck::judge(cache::Body block, const BlockRun& run) {
  const auto compared = co_await compare_with_stored(block);
  if (compared != Verdict::incomplete) co_return compared;
  const bool has_hashed_all = in_order_ && next_ == cache::blocks_in(object_->body.size);
  if (has_hashed_all && !hash_.matches()) co_return Verdict::wrong;
  if (has_hashed_all && !run.accompanied()) co_return Verdict::right;
  // No block of a dropped object is kept, so nobody can tell what its readers had before the last.
  if (is_last() && !access_.cache().may_have(key_, *object_)) co_return Verdict::unknown;
  if (!has_all_blocks(access_, key_, *object_, block_)) co_return Verdict::incomplete;
  co_return co_await judge_stored(std::move(block));
}

// One block at a time, so the memory for it needs no slot.
Task<Verdict> WholeCheck::judge_stored(cache::Body block) {
  mirrors::ContentCheck all(name_, object_->body.size);
  for (std::uint32_t i = 0; i < cache::blocks_in(object_->body.size); ++i) {
    if (i == block_) {
      add_to(all, block);
      continue;
    }
    const auto stored = co_await access_.cached().read_block(key_, object_, i);
    // With the last block, a reader may have the whole, and with it bytes that are gone here.
    if (!stored.block) co_return is_last() ? Verdict::unknown : unreadable(i);
    add_to(all, stored.block->body);
    // A block that memory has is no wait, and each takes milliseconds to hash.
    co_await net::asio::post(access_.executor(), net::use_task);
  }
  co_return all.matches() ? Verdict::right : Verdict::wrong;
}

}  // namespace proxy::blocks
