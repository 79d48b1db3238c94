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

// The slices of both may end at different places.
bool are_equal(const cache::Body& one, const cache::Body& other) {
  auto with = other.slices.begin();
  std::uint32_t used = 0;  // of `with`
  for (const auto& slice : one.slices) {
    for (std::uint32_t at = 0; at < slice.size;) {
      if (with == other.slices.end()) return false;
      const auto there = *with;
      const auto size = std::min(slice.size - at, there.size - used);
      if (!std::equal(slice.block->data() + at, slice.block->data() + at + size,
                      there.block->data() + used))
        return false;
      at += size;
      used += size;
      if (used < there.size) continue;
      ++with;
      used = 0;
    }
  }
  return with == other.slices.end();
}

}  // namespace

bool has_all_blocks(const FetchAccess& access, const digest::Key& key, const cache::Entry& object,
                    std::uint32_t but) {
  // From the last one on: a run that goes through the object lacks that for the longest time.
  for (auto i = cache::blocks_in(object.body.size); i-- > 0;) {
    if (i != but && !access.cache().has_block(key, object, i)) return false;
  }
  return true;
}

Task<bool> hash_stored(FetchAccess& access, const digest::Key& key,
                       cache::Ref<const cache::Entry> object, std::uint32_t block,
                       mirrors::ContentCheck& hash) {
  const auto stored =
      co_await access.cached().read_block(key, std::move(object), block, tiers::AfterRead::leave);
  if (!stored.block) co_return false;
  add_to(hash, stored.block->body);
  // A block that memory has is no wait, and each takes milliseconds to hash.
  co_await net::asio::post(access.executor(), net::use_task);
  co_return true;
}

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

WholeCheck::WholeCheck(FetchAccess& access, const digest::Key& key, BlockRun& run,
                       const mirrors::ContentName& name)
    : access_(access),
      key_(key),
      run_(run),
      object_(run.object),
      name_(name),
      hashes_(access.runs.hashes().of(object_->object()->version)) {}

void WholeCheck::begin(std::uint32_t block, std::uint64_t offset) {
  block_ = block;
  Prefix before;
  if (const auto all = verified()) {
    before = all->at(block);
  } else if (block == 0) {
    before = std::make_shared<const mirrors::ContentCheck>(name_, object_->body.size);
  }
  run_.hash.begin(block, offset, std::move(before));
}

void WholeCheck::add(std::string_view bytes) {
  run_.hash.add(bytes);
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

Prefixes WholeCheck::verified() const {
  return hashes_->verified(name_, cache::blocks_in(object_->body.size));
}

bool WholeCheck::is_last() const {
  return block_ + 1 == cache::blocks_in(object_->body.size);
}

// A stored block that was evicted, or dropped as damaged, is missing like any other one.
Verdict WholeCheck::unreadable(std::uint32_t block) const {
  const bool is_there = access_.cache().has_block(key_, *object_, block);
  return is_there ? Verdict::unknown : Verdict::incomplete;
}

// `after`: the hash up to the end of the block, if it was hashed as it arrived. It tells nothing of
// a wrong block: the wrong bytes may be those of a block before.
Verdict WholeCheck::compare_with_verified(const cache::Body& block, const Prefix& after,
                                          const std::vector<Prefix>& all) const {
  if (is_same(after, all.at(block_ + 1))) return Verdict::right;
  mirrors::ContentCheck hash(*all.at(block_));
  add_to(hash, block);
  return hash.so_far() == all.at(block_ + 1)->so_far() ? Verdict::right : Verdict::other;
}

// Whoever reads the object gets some blocks from the store and others from this writer, so both
// must have the same bytes.
Task<Verdict> WholeCheck::compare_with_stored(const cache::Body& block) {
  if (!access_.cache().has_block(key_, *object_, block_)) co_return Verdict::incomplete;
  const auto stored =
      co_await access_.cached().read_block(key_, object_, block_, tiers::AfterRead::leave);
  if (!stored.block) co_return unreadable(block_);
  co_return are_equal(stored.block->body, block) ? Verdict::incomplete : Verdict::wrong;
}

// What was hashed as it arrived is what is stored only if nobody else has written blocks meanwhile.
Task<Verdict> WholeCheck::judge(cache::Body block) {
  auto after = run_.hash.end();
  if (const auto all = verified()) co_return compare_with_verified(block, after, *all);
  const bool has_hashed_all = after && is_last();
  if (has_hashed_all && !after->matches()) co_return Verdict::wrong;
  const auto compared = co_await compare_with_stored(block);
  if (compared != Verdict::incomplete) co_return compared;
  if (has_hashed_all && !run_.accompanied()) {
    access_.runs.hashes().record_verified(hashes_, run_.hash.all(block_ + 1));
    co_return Verdict::right;
  }
  if (!has_all_blocks(access_, key_, *object_, block_)) co_return Verdict::incomplete;
  co_return co_await judge_stored(std::move(block));
}

// One block at a time, so the memory for it needs no slot.
Task<Verdict> WholeCheck::judge_stored(cache::Body block) {
  mirrors::ContentCheck all(name_, object_->body.size);
  const auto prefix = [&all] { return std::make_shared<const mirrors::ContentCheck>(all); };
  std::vector<Prefix> prefixes{prefix()};
  for (std::uint32_t i = 0; i < cache::blocks_in(object_->body.size); ++i) {
    if (i == block_) {
      add_to(all, block);
    } else {
      const bool is_read = co_await hash_stored(access_, key_, object_, i, all);
      if (!is_read) co_return unreadable(i);
    }
    if (prefixes.size() <= HashesByVersion::kMost) prefixes.push_back(prefix());
  }
  if (!all.matches()) co_return Verdict::wrong;
  access_.runs.hashes().record_verified(
      hashes_, std::make_shared<const std::vector<Prefix>>(std::move(prefixes)));
  co_return Verdict::right;
}

}  // namespace proxy::blocks
