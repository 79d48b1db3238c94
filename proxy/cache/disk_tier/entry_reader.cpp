#include "proxy/cache/disk_tier/entry_reader.hpp"

#include <algorithm>
#include <utility>

namespace proxy::cache {

namespace {

using disk::Error;
using disk::Result;
using disk::to_number;
using disk::Wait;

constexpr std::uint64_t kShare = 8;  // of the budget's limit
// A larger head would displace many others.
constexpr std::uint64_t kLargest = 16 * 1024;

// The object with its reference counts, a node of the map, the slot's share of its buckets and of
// the order, and malloc's overhead.
constexpr std::uint64_t kOverhead = sizeof(KnownHead) + 128;

std::uint64_t bytes_of(const KnownHead& head) {
  return head.entry->footprint() + kOverhead;
}

// Another directory may have given the number to another segment, so numbers alone do not tell
// segments apart. The owners of their control blocks do.
bool is_same(const std::shared_ptr<const disk::Segment>& found,
             const std::weak_ptr<const disk::Segment>& known) {
  return found && !found.owner_before(known) && !known.owner_before(found);
}

disk::StoredBody without_segment(disk::StoredBody body) {
  body.segment = nullptr;
  return body;
}

constexpr std::uint32_t kPieceBytes = 64 * 1024;

}  // namespace

KnownHead::KnownHead(Ref<const Entry> its_entry, std::uint64_t its_selector, disk::StoredBody body,
                     const std::shared_ptr<const disk::Segment>& front)
    : entry(std::move(its_entry)),
      selector(its_selector),
      place(without_segment(body)),
      front_segment_(front),
      body_segment_(body.segment) {}

std::optional<disk::StoredBody> KnownHead::body(const disk::Segments& segments) const {
  auto segment = segments.find(place.at.segment);
  if (!is_same(segment, body_segment_)) return std::nullopt;
  const bool is_apart = place.front.segment != place.at.segment;
  if (is_apart && !is_same(segments.find(place.front.segment), front_segment_)) return std::nullopt;
  disk::StoredBody body = place;
  body.segment = std::move(segment);
  return body;
}

KnownHeads::Head KnownHeads::find(disk::Position at) {
  const auto number = to_number(at);
  auto& shard = shard_of(number);
  const threads::MutexLock lock(shard.mutex);
  const auto found = shard.heads.find(number);
  if (found == shard.heads.end()) return nullptr;
  found->second.used = true;
  return found->second.head;
}

void KnownHeads::record(Head head) {
  if (bytes_of(*head) > kLargest) return;
  const auto number = to_number(head->place.front);
  auto& shard = shard_of(number);
  std::vector<Head> forgotten;  // destroyed after the lock
  const threads::MutexLock lock(shard.mutex);
  auto& slot = shard.heads[number];
  if (slot.head) {
    shard.bytes -= bytes_of(*slot.head);
    forgotten.push_back(std::move(slot.head));
  } else {
    shard.order.push_back(number);
    budget_.charge(kOverhead);
  }
  shard.bytes += bytes_of(*head);
  slot.head = std::move(head);
  for (auto& one : forget_some(shard)) forgotten.push_back(std::move(one));
}

std::vector<KnownHeads::Head> KnownHeads::forget_some(Shard& shard) {
  std::vector<Head> forgotten;
  while (shard.bytes > budget_.limit() / kShare / kShards && !shard.order.empty()) {
    const auto number = shard.order.front();
    shard.order.pop_front();
    const auto found = shard.heads.find(number);
    if (std::exchange(found->second.used, false)) {
      shard.order.push_back(number);
      continue;
    }
    shard.bytes -= bytes_of(*found->second.head);
    budget_.release(kOverhead);
    forgotten.push_back(std::move(found->second.head));
    shard.heads.erase(found);
  }
  return forgotten;
}

void KnownHeads::clear() {
  for (auto& shard : shards_) {
    std::unordered_map<std::uint64_t, Slot> forgotten;  // destroyed after the lock
    const threads::MutexLock lock(shard.mutex);
    budget_.release(shard.heads.size() * kOverhead);
    forgotten.swap(shard.heads);
    shard.order.clear();
    shard.bytes = 0;
  }
}

std::uint64_t KnownHeads::bytes() const {
  std::uint64_t all = 0;
  for (const auto& shard : shards_) {
    const threads::MutexLock lock(shard.mutex);
    all += shard.bytes;
  }
  return all;
}

// Multiplicative hashing (Knuth, volume 3, 6.4).
KnownHeads::Shard& KnownHeads::shard_of(std::uint64_t at) {
  return shards_[at * 0x9e3779b97f4a7c15U >> 60];
}

// A miss is no error, but a record of another URL is not a miss of this one.
Result<disk::StoredRecord> EntryReader::open(ReadBack::Seen& seen, const disk::Location& location,
                                             std::string_view url, Wait wait) {
  seen.at = location.at;
  auto stored = disk_.open(seen.key, location, wait);
  if (stored && stored->url() != url) return Error::gone;
  return stored;
}

bool EntryReader::add_known(ReadBack& read, const ReadBack::Seen& seen, std::uint64_t selector,
                            std::string_view url, http::NormalForms& request) {
  const auto known = heads_.find(seen.at);
  if (!known || known->place.key != seen.key || known->selector != selector) return false;
  const auto& entry = known->entry;
  if (entry->url() != url || !entry->variant().matches(request)) return false;
  // The index found this very position, so the head cannot be outdated: see KnownHeads.
  read.in_file = known->body(disk_.catalog().segments);
  if (read.in_file) read.entry = entry;
  return read.in_file.has_value();
}

Result<ReadBack> EntryReader::read_entry(ReadBack read, Wanted wanted, Store& memory, Wait wait) {
  const auto& stored = wanted.stored;
  const bool is_left = wanted.bodies == Bodies::large_in_file && stored.body_bytes() >= kLeftFrom;
  Body body{.slices = {}, .size = stored.body_bytes()};
  if (!is_left) {
    auto got = read_body(stored, memory, wait);
    // A full memory is no fault of the disk: the request goes on as after a miss.
    if (!got && got.error() == Error::busy) return read;
    if (!got) return got.error();
    body = std::move(*got);
  }
  auto& saved = wanted.saved;
  const auto entry = Entry::make(budget_, std::move(saved.entry));
  entry->body = std::move(body);
  if (is_left) {
    leave_in_file(read, wanted, entry);
    return read;
  }
  const auto& seen = read.variant ? *read.variant : *read.by;
  if (entry->object()) entry->body.size = saved.length;
  // An object's record has no body of its own: its blocks are found by its version.
  const auto body_at = entry->object() ? seen.at : stored.body_at();
  read.on_disk = std::make_shared<OnDisk>();
  read.on_disk->set(seen.key, to_number(seen.at), to_number(body_at));
  read.entry = entry;
  return read;
}

// A purge by giver covers entries that the index still has (Disk::open), so the heads of entries
// that a neighbour gave are read each time.
void EntryReader::leave_in_file(ReadBack& read, const Wanted& wanted, const Ref<Entry>& entry) {
  read.entry = entry;
  read.in_file = wanted.stored.body_in_file();
  if (entry->giver().tag != 0) return;
  heads_.record(std::make_shared<const KnownHead>(entry, wanted.saved.selector, *read.in_file,
                                                  wanted.stored.segment()));
}

template <class Stored>
Result<Body> EntryReader::read(const Stored& stored, std::uint32_t bytes, Room room, Store& memory,
                               Wait wait) {
  // The checksum of more bytes would hold up the other connections of an I/O thread.
  if (wait == Wait::no && bytes > kReadAtOnce) return Error::would_block;
  Body body{.slices = {}, .size = bytes};
  std::vector<std::span<std::uint8_t>> into;
  for (auto left = bytes; left > 0;) {
    const bool has_room = !budget_.over() || memory.make_room();
    if (!has_room && room == Room::to_be_made) return Error::busy;
    const auto size = std::min(left, kPieceBytes);
    const auto block = Block::make(budget_, size);
    into.emplace_back(reinterpret_cast<std::uint8_t*>(block->data()), size);
    body.slices.push_back({block, size});
    left -= size;
  }
  const auto done = disk_.read_body(stored, into, wait);
  if (!done) return done.error();
  return body;
}

Result<Body> EntryReader::read_body(const disk::StoredRecord& stored, Store& memory, Wait wait) {
  const bool is_block = stored.header().kind == disk::RecordKind::block;
  const auto room = is_block ? Room::is_there : Room::to_be_made;
  return read(stored, stored.body_bytes(), room, memory, wait);
}

Result<Body> EntryReader::read_body(const disk::StoredBody& stored, Store& memory, Wait wait) {
  return read(stored, stored.size, Room::to_be_made, memory, wait);
}

}  // namespace proxy::cache
