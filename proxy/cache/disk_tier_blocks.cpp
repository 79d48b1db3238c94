// Large objects and their blocks, on disk.
#include <utility>

#include "proxy/cache/disk_tier.hpp"
#include "proxy/cache/in_blocks.hpp"

namespace proxy::cache {

using disk::Error;
using disk::Key;
using disk::NewRecord;
using disk::RecordKind;
using disk::Result;
using disk::Wait;

// One that is freshened stays found meanwhile, or its blocks would be taken for nobody's.
bool DiskTier::write_object(NewRecord record, const Entry& entry, const Entry* superseded) {
  record.header.kind = RecordKind::object;
  note_object(record.header, entry);
  const bool freshens = superseded && superseded->object == entry.object;
  const auto taken = freshens ? disk_.freshen(std::move(record)) : disk_.replace(std::move(record));
  return taken.has_value();
}

bool DiskTier::put_block(const Key& url_key, std::uint32_t number, const Entry& object,
                         const std::shared_ptr<const Entry>& block) {
  if (object.url.size() + kBlockBytes > disk_.most_bytes()) return false;
  const disk::RecordHeader header{.kind = RecordKind::block,
                                  .key = url_key,
                                  .version = object.object->version,
                                  .block = number};
  const Key key = header.index_key();
  const auto forget = [this, key, block](const auto&) {
    const std::lock_guard lock(unwritten_mutex_);
    const auto found = unwritten_.find(key);
    if (found != unwritten_.end() && found->second == block) unwritten_.erase(found);
  };
  NewRecord record{.header = header, .url = object.url, .head = {}, .body = pieces_of(block)};
  record.done = forget;
  {
    const std::lock_guard lock(unwritten_mutex_);
    unwritten_[key] = block;
  }
  const bool taken = disk_.append(std::move(record)).has_value();
  if (!taken) forget(taken);
  return taken;
}

std::shared_ptr<const Entry> DiskTier::unwritten(const Key& block_key) const {
  const std::lock_guard lock(unwritten_mutex_);
  const auto found = unwritten_.find(block_key);
  return found == unwritten_.end() ? nullptr : found->second;
}

Result<std::shared_ptr<const Entry>> DiskTier::read_block(const Key& url_key, std::uint32_t number,
                                                          const Entry& object, Store& memory,
                                                          Wait wait) {
  ReadBack::Seen seen{disk::block_key(url_key, object.object->version, number), {}};
  const auto place = disk_.find(seen.key, object.url);
  if (!place || place->kind != RecordKind::block) {
    disk_.lose_block(url_key, object.object->version);  // if it is claimed, it is so wrongly
    return nullptr;
  }
  const auto failed = [&](Error error) -> Result<std::shared_ptr<const Entry>> {
    if (error == Error::would_block || error == Error::busy) return error;
    disk_.lose_block(url_key, object.object->version);
    return error;
  };
  const auto stored = open(seen, *place, object.url, wait);
  if (!stored) return failed(stored.error());
  auto body = read_body(*stored, memory, wait);
  if (!body) return failed(body.error());
  if (body->size != bytes_of_block(number, object.body.size).size()) {
    return failed(disk_.discard(seen.key, *place));
  }
  return block_entry(budget_, object, std::move(*body));
}

}  // namespace proxy::cache
