#include "proxy/cache/disk_tier/entry_reader.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace proxy::cache {
namespace {

using disk::Error;
using disk::Result;
using disk::Wait;

constexpr std::uint32_t kPieceBytes = 64 * 1024;

}  // namespace

// A miss is no error, but a record of another URL is not a miss of this one.
Result<disk::StoredRecord> EntryReader::open(ReadBack::Seen& seen, const disk::Location& location,
                                             std::string_view url, Wait wait) {
  seen.at = location.at;
  auto stored = disk_.open(seen.key, location, wait);
  if (stored && stored->url() != url) return Error::gone;
  return stored;
}

Result<ReadBack> EntryReader::read_entry(ReadBack read, Wanted wanted, Store& memory, Wait wait) {
  const auto& stored = wanted.stored;
  const bool is_left = wanted.bodies == Bodies::large_in_file && stored.body_bytes() >= kLeftFrom;
  Body body{.slices = {}, .size = stored.body_bytes()};
  if (!is_left) {
    auto got = read_body(stored, memory, wait);
    if (!got && got.error() == Error::busy) return read;
    if (!got) return got.error();
    body = std::move(*got);
  }
  auto& saved = wanted.saved;
  const auto entry = std::make_shared<Entry>(budget_, std::move(saved.entry));
  entry->body = std::move(body);
  const auto& seen = read.variant ? *read.variant : *read.by;
  if (entry->object) entry->body.size = saved.length;
  const auto body_at = entry->object ? seen.at : stored.body_at();
  read.on_disk = std::make_shared<OnDisk>();
  read.on_disk->set(seen.key, to_number(seen.at), to_number(body_at));
  read.entry = entry;
  if (is_left) {
    read.in_file = std::make_shared<const disk::StoredRecord>(std::move(wanted.stored));
  }
  return read;
}

Result<Body> EntryReader::read_body(const disk::StoredRecord& stored, Store& memory, Wait wait) {
  auto left = stored.body_bytes();
  const bool has_room = stored.header().kind == disk::RecordKind::block;
  if (wait == Wait::no && left > kReadAtOnce) return Error::would_block;
  Body body{.slices = {}, .size = left};
  std::vector<std::span<std::uint8_t>> into;
  while (left > 0) {
    if (budget_.over() && !memory.make_room() && !has_room) return Error::busy;
    const auto size = std::min(left, kPieceBytes);
    const auto block = std::make_shared<Block>(budget_, size);
    into.emplace_back(reinterpret_cast<std::uint8_t*>(block->data()), size);
    body.slices.push_back({block, size});
    left -= size;
  }
  const auto done = disk_.read_body(stored, into, wait);
  if (!done) return done.error();
  return body;
}

}  // namespace proxy::cache
