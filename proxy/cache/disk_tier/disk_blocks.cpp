#include "proxy/cache/disk_tier/disk_blocks.hpp"

#include "proxy/cache/combine.hpp"

namespace proxy::cache {

using disk::Error;
using disk::Key;
using disk::RecordKind;
using disk::Result;
using disk::Wait;

DiskBlocks::Taken DiskBlocks::put(const Key& url_key, std::uint32_t number, const Entry& object,
                                  const Ref<const Entry>& block) {
  // A small cache has segments that no block fits into.
  if (object.url().size() + kBlockBytes > disk_.most_bytes()) return Taken::no;
  disk::RecordHeader header{.kind = RecordKind::block,
                            .key = url_key,
                            .version = object.object()->version,
                            .block = number};
  header.set_giver(block->giver().tag);
  const Key key = header.index_key();
  disk::NewRecord record{
      .header = header, .url = std::string(object.url()), .head = {}, .body = pieces_of(block)};
  // The block stays found until the index has it: a reader must not miss it between the two.
  record.done = [this, key, block](const Result<disk::Position>& at) {
    if (at) written_(key, *block);
    forget(key, block);
  };
  {
    const threads::MutexLock lock(mutex_);
    // Before the block is queued, since `done` may run at once on the thread of the disk.
    unwritten_[key] = block;
  }
  if (disk_.append(std::move(record))) return Taken::yes;
  forget(key, block);
  return Taken::no;
}

void DiskBlocks::forget(const Key& key, const Ref<const Entry>& block) {
  const threads::MutexLock lock(mutex_);
  const auto found = unwritten_.find(key);
  if (found != unwritten_.end() && found->second == block) unwritten_.erase(found);
}

Ref<const Entry> DiskBlocks::unwritten(const Key& block_key) const {
  Ref<const Entry> block;
  {
    const threads::MutexLock lock(mutex_);
    const auto found = unwritten_.find(block_key);
    if (found != unwritten_.end()) block = found->second;
  }
  // A rule that was added after the block was queued is unsettled until the block is written.
  const auto& rules = disk_.catalog().rules;
  if (block && rules.purged(block->url(), disk::kLastPosition, block->giver().tag)) return nullptr;
  return block;
}

Error DiskBlocks::failed(const Key& url_key, const Entry& object, Error error) {
  const bool is_lost = error != Error::would_block && error != Error::busy;
  if (is_lost) disk_.lose_block(url_key, object.object()->version);  // a claim would be wrong
  return error;
}

Result<std::optional<disk::StoredRecord>> DiskBlocks::open(const Key& url_key, std::uint32_t number,
                                                           const Entry& object, Wait wait) {
  ReadBack::Seen seen{disk::block_key(url_key, object.object()->version, number), {}};
  const auto location = disk_.find(seen.key, object.url());
  // Reclaiming took it. Without this, our digest would claim the whole object.
  if (!location || location->kind != RecordKind::block) {
    disk_.lose_block(url_key, object.object()->version);
    return std::nullopt;
  }
  auto stored = reader_.open(seen, *location, object.url(), wait);
  if (!stored) return failed(url_key, object, stored.error());
  if (stored->body_bytes() != bytes_of_block(number, object.body.size).size()) {
    disk_.drop(seen.key, *location, Error::corrupt);
    return failed(url_key, object, Error::corrupt);
  }
  return std::optional(std::move(*stored));
}

Result<Ref<const Entry>> DiskBlocks::read(const Key& url_key, std::uint32_t number,
                                          const Entry& object, Store& memory, Wait wait) {
  const auto stored = open(url_key, number, object, wait);
  if (!stored) return stored.error();
  if (!*stored) return nullptr;
  auto body = reader_.read_body(**stored, memory, wait);
  if (!body) return failed(url_key, object, body.error());
  return block_entry(budget_, object, std::move(*body), {(*stored)->header().giver()});
}

Result<std::optional<DiskBlocks::InFile>> DiskBlocks::in_file(const Key& url_key,
                                                              std::uint32_t number,
                                                              const Entry& object) {
  const auto stored = open(url_key, number, object, Wait::no);
  if (!stored) return stored.error();
  if (!*stored) return std::nullopt;
  return InFile{(*stored)->body_in_file(), {(*stored)->header().giver()}};
}

}  // namespace proxy::cache
