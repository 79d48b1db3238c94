#include "proxy/cache/disk_tier.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace proxy::cache {
namespace {

using disk::Error;
using disk::Key;
using disk::Location;
using disk::NewRecord;
using disk::RecordHeader;
using disk::RecordKind;
using disk::Result;
using disk::Wait;

constexpr std::uint32_t kBlock = 64 * 1024;
// More is not read, nor its checksum found, while an I/O thread waits.
constexpr std::uint32_t kReadAtOnce = 256 * 1024;
// Of a record; longer bodies stay in memory only.
constexpr std::uint64_t kMostWhole = std::uint64_t{16} << 20;

// Of memory for an entry of the index, at worst (index_memory_test), and some for what is claimed.
constexpr std::uint64_t kIndexBytes = 64;

// What waits to be written is in memory: an eighth of it, but some blocks where that is few.
std::uint64_t queue_share(std::uint64_t memory_bytes) {
  return std::max(memory_bytes / 8, std::min<std::uint64_t>(4 * kBlockBytes, memory_bytes / 4));
}

disk::Options options_of(DiskLimits limits, std::uint64_t memory_bytes,
                         disk::PurgeRules::Reading reading,
                         const std::atomic<const Store*>& memory) {
  disk::Options options;
  options.queue_bytes = std::min(options.queue_bytes, queue_share(memory_bytes));
  options.path = std::move(limits.path);
  options.log.bytes = limits.bytes;
  options.log.entries = memory_bytes / 2 / kIndexBytes;
  options.log.segment_bytes = limits.segment_bytes;
  options.purge_reading = std::move(reading);
  options.log.keep = [&memory](const Key& key, const Location& place) {
    const Store* above = memory;
    return place.used || (above && above->was_used(key));
  };
  return options;
}

bool same_body(const Entry& a, const Entry& b) {
  const auto same = [](const Slice& left, const Slice& right) {
    return left.block == right.block && left.size == right.size;
  };
  return !a.object && !b.object &&
         std::equal(a.body.slices.begin(), a.body.slices.end(), b.body.slices.begin(),
                    b.body.slices.end(), same);
}

}  // namespace

std::vector<disk::Piece> DiskTier::pieces_of(const std::shared_ptr<const Entry>& entry) {
  std::vector<disk::Piece> pieces;
  for (const Slice& slice : entry->body.slices) {
    pieces.push_back({entry, disk::bytes_of({slice.block->data(), slice.size})});
  }
  return pieces;
}

std::uint64_t segments_of(std::uint64_t bytes) {
  const auto each = disk::segment_bytes_for({.bytes = bytes});
  return each ? bytes / *each + 1 : 0;
}

DiskTier::DiskTier(Budget& budget, DiskLimits limits, disk::PurgeRules::Reading reading)
    : budget_(budget),
      disk_(options_of(limits, budget.limit(), std::move(reading), memory_)),
      known_(std::clamp<std::size_t>(budget.limit() / 64 / sizeof(Known), 64, kMostKnown)) {
  if (limits.admit_on_second) asked_twice_.emplace(budget, AskedTwice::fitting(budget.limit()));
}

bool DiskTier::stop() {
  const bool read = !pool_ || pool_->end(kReadLimit);
  if (read) pool_.reset();
  return disk_.end() == disk::Writer::End::joined && read;
}

disk::State DiskTier::state() const {
  if (hangs()) return {.working = false, .reason = Error::hangs};
  return disk_.state();
}

std::size_t DiskTier::place_of(const Key& url_key) const {
  return (url_key.bytes[2] | std::size_t{url_key.bytes[3]} << 8) % known_.size();
}

// A miss has no error, but an entry or a selector of another URL is no miss of this one.
Result<disk::StoredRecord> DiskTier::open(ReadBack::Seen& seen, const Location& place,
                                          std::string_view url, Wait wait) {
  seen.at = place.at;
  auto stored = disk_.open(seen.key, place, wait);
  if (stored && stored->url() != url) return Error::gone;
  return stored;
}

Result<ReadBack> DiskTier::read(const Key& url_key, std::string_view url,
                                const http::Fields& request, Store& memory, Wait wait) {
  ReadBack read;
  auto place = disk_.find(url_key, url);
  if (!place) return read;
  auto stored = open(read.by.emplace(ReadBack::Seen{url_key, {}}), *place, url, wait);
  if (!stored) return stored.error();
  std::uint64_t number = 0;
  if (place->kind == RecordKind::selector) {
    const auto selector = decode_selector(stored->head());
    if (!selector) return disk_.discard(url_key, *place);
    note(*read.by, url, *selector, stored->header());
    read.varies = true;
    const bool is_claimed = place->claimable_until != 0 && !disk_.may_hold(selector->claimed);
    if (is_claimed) disk_.catalog().index.set_claim(url_key, place->at, 0);  // and so wrongly
    number = selector->number;
    const Key key = variant_key(url_key, *selector, request);
    place = disk_.find(key, url);
    if (!place) return read;
    stored = open(read.variant.emplace(ReadBack::Seen{key, {}}), *place, url, wait);
    if (!stored) return stored.error();
  }
  if (place->kind == RecordKind::block || place->kind == RecordKind::selector) return read;
  auto saved = decode_head(url, stored->head(), stored->header());
  if (!saved || saved->selector != number || !saved->entry.variant.matches(request)) {
    return disk_.discard((read.variant ? read.variant : read.by)->key, *place);
  }
  return read_entry(std::move(read), *stored, std::move(*saved), memory, wait);
}

Result<ReadBack> DiskTier::read_entry(ReadBack read, const disk::StoredRecord& stored,
                                      SavedHead saved, Store& memory, Wait wait) {
  auto body = read_body(stored, memory, wait);
  if (!body && body.error() == Error::busy) return read;
  if (!body) return body.error();
  const auto entry = std::make_shared<Entry>(budget_, std::move(saved.entry));
  entry->body = std::move(*body);
  const auto& seen = read.variant ? *read.variant : *read.by;
  if (entry->object) entry->body.size = saved.length;
  const auto body_at = entry->object ? seen.at : stored.body_at();
  entry->on_disk.set(seen.key, to_number(seen.at), to_number(body_at));
  read.entry = entry;
  return read;
}

// `busy`: memory has no room for it. Of blocks no more are read than there is room for: who reads
// them sees to that, see Room.
Result<Body> DiskTier::read_body(const disk::StoredRecord& stored, Store& memory, Wait wait) {
  auto left = stored.body_bytes();
  const bool has_room = stored.header().kind == RecordKind::block;
  if (wait == Wait::no && left > kReadAtOnce) return Error::would_block;
  Body body{.slices = {}, .size = left};
  std::vector<std::span<std::uint8_t>> into;
  while (left > 0) {
    if (budget_.over() && !memory.make_room() && !has_room) return Error::busy;
    const auto size = std::min(left, kBlock);
    const auto block = std::make_shared<Block>(budget_, size);
    into.emplace_back(reinterpret_cast<std::uint8_t*>(block->data()), size);
    body.slices.push_back({block, size});
    left -= size;
  }
  const auto done = disk_.read_body(stored, into, wait);
  if (!done) return done.error();
  return body;
}

bool DiskTier::still_found(const ReadBack& read, std::string_view url) const {
  const auto there = [this, url](const std::optional<ReadBack::Seen>& seen) {
    return !seen || disk_.holds(seen->key, url, seen->at);
  };
  return there(read.by) && there(read.variant);
}

std::uint64_t DiskTier::most_whole() const {
  const auto most = std::min(disk_.most_bytes(), kMostWhole);
  return most - std::min(most, 4 * kFixed);  // for a large head
}

bool DiskTier::worth(const Entry& entry) const {
  const auto body = entry.object ? 0 : entry.body.size;
  const auto bytes = entry.url.size() + 2 * entry.head.size() + body + kFixed;
  const bool whole = entry.object || (!entry.range && entry.status != 206);
  return whole && bytes <= std::min(disk_.most_bytes(), kMostWhole);
}

bool DiskTier::put(const Key& url_key, const std::shared_ptr<const Entry>& entry,
                   const Entry* superseded, const std::function<bool()>& stored_above) {
  const std::lock_guard lock(lock_of(url_key));
  if (!stored_above()) return false;
  if (!entry->variant.varies()) {
    write(url_key, entry, superseded, 0);
    return true;
  }
  return put_variant(url_key, entry, superseded);
}

bool DiskTier::write(const Key& key, const std::shared_ptr<const Entry>& entry,
                     const Entry* superseded, std::uint64_t selector) {
  if (!worth(*entry)) {
    if (disk_.may_hold(key)) disk_.purge(key, {});
    return false;
  }
  RecordHeader header{.kind = RecordKind::whole, .key = key};
  if (selector == 0) header.claimable_until = recorded_claim(*entry);
  note_times(header, entry->times);
  NewRecord record{.header = header, .url = entry->url, .head = encode_head(*entry, selector)};
  record.done = [entry, key](Result<disk::Position> at) {
    if (at) entry->on_disk.set(key, to_number(*at), to_number(*at));
  };
  if (entry->object) return write_object(std::move(record), *entry, superseded);
  const auto held = disk_.catalog().index.find(key);
  const bool newer_head = superseded && superseded->on_disk.front() != 0 && held &&
                          to_number(held->at) == superseded->on_disk.front() &&
                          same_body(*entry, *superseded);
  if (!newer_head) {
    record.body = pieces_of(entry);
    return disk_.replace(std::move(record)).has_value();
  }
  const auto body = superseded->on_disk.body();
  record.header.kind = RecordKind::head;
  record.header.version = body;
  record.replaces = held->at;
  record.body_if_moved = pieces_of(entry);
  record.done = [this, entry, key, body](Result<disk::Position> at) {
    if (!at) return;
    const auto place = disk_.catalog().index.find(key);
    const bool moved = place && place->at == *at && place->kind == RecordKind::whole;
    entry->on_disk.set(key, to_number(*at), moved ? to_number(*at) : body);
  };
  return disk_.freshen(std::move(record)).has_value();
}

bool DiskTier::purge(const Key& url_key, disk::Done done) {
  const std::lock_guard lock(lock_of(url_key));
  auto& known = known_[place_of(url_key)];
  if (known && known->url == url_key) known.reset();
  if (!disk_.may_hold(url_key)) return false;
  disk_.purge(url_key, std::move(done));
  return true;
}

Result<void> DiskTier::purge_all(std::string_view text, disk::Done done) {
  std::vector<std::unique_lock<std::mutex>> all;
  for (auto& lock : locks_) all.emplace_back(lock);
  return disk_.purge_prefix(text, std::move(done));
}

void DiskTier::charge() {
  // Bodies in the queue are charged already.
  const auto bytes = disk_.catalog().index.bytes() + disk_.catalog().rules.bytes() +
                     disk_.queued_bytes() / 8 + known_.size() * sizeof(known_[0]);
  if (bytes > charged_) budget_.charge(bytes - charged_);
  if (bytes < charged_) budget_.release(charged_ - bytes);
  charged_ = bytes;
}

}  // namespace proxy::cache
