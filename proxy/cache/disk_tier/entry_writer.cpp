#include "proxy/cache/disk_tier/entry_writer.hpp"

#include <algorithm>
#include <utility>

#include "proxy/cache/saved_head.hpp"

namespace proxy::cache {
namespace {

using disk::Key;
using disk::NewRecord;
using disk::RecordHeader;
using disk::RecordKind;
using disk::Result;

// Bytes of a record. Longer bodies stay in memory only.
constexpr std::uint64_t kMostWhole = std::uint64_t{16} << 20;

bool same_body(const Entry& a, const Entry& b) {
  const auto same = [](const Slice& left, const Slice& right) {
    return left.block == right.block && left.size == right.size;
  };
  return !a.object && !b.object &&
         std::equal(a.body.slices.begin(), a.body.slices.end(), b.body.slices.begin(),
                    b.body.slices.end(), same);
}

EntryWriter::Taken taken_if(const Result<void>& taken) {
  return taken ? EntryWriter::Taken::yes : EntryWriter::Taken::no;
}

}  // namespace

std::vector<disk::Piece> pieces_of(const std::shared_ptr<const Entry>& entry) {
  std::vector<disk::Piece> pieces;
  for (const Slice& slice : entry->body.slices) {
    pieces.push_back({entry, disk::bytes_of({slice.block->data(), slice.size})});
  }
  return pieces;
}

std::uint64_t EntryWriter::most_whole() const {
  const auto most = std::min(disk_.most_bytes(), kMostWhole);
  return most - std::min(most, 4 * kFixed);  // for a large head
}

bool EntryWriter::fits(const Entry& entry) const {
  const auto body = entry.object ? 0 : entry.body.size;
  const auto bytes = entry.url.size() + 2 * entry.head.size() + body + kFixed;
  const bool whole = entry.object || (!entry.range && entry.status != 206);
  return whole && bytes <= std::min(disk_.most_bytes(), kMostWhole);
}

EntryWriter::Taken EntryWriter::write(const Key& key, const std::shared_ptr<const Entry>& entry,
                                      const Entry* superseded, std::uint64_t selector) {
  if (!fits(*entry)) {
    if (disk_.may_hold(key)) disk_.purge(key, {});
    return Taken::no;
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
  if (newer_head) {
    record.replaces = held->at;
    return write_head(std::move(record), entry, *superseded);
  }
  record.body = pieces_of(entry);
  return taken_if(disk_.replace(std::move(record)));
}

EntryWriter::Taken EntryWriter::write_head(NewRecord record,
                                           const std::shared_ptr<const Entry>& entry,
                                           const Entry& superseded) {
  const auto body = superseded.on_disk.body();
  record.header.kind = RecordKind::head;
  record.header.version = body;
  record.body_if_moved = pieces_of(entry);
  record.done = [this, entry, key = record.header.key, body](Result<disk::Position> at) {
    if (!at) return;
    const auto location = disk_.catalog().index.find(key);
    const bool moved = location && location->at == *at && location->kind == RecordKind::whole;
    entry->on_disk.set(key, to_number(*at), moved ? to_number(*at) : body);
  };
  return taken_if(disk_.freshen(std::move(record)));
}

// An object stays in the index while its head is freshened: otherwise its blocks would count as
// orphans.
EntryWriter::Taken EntryWriter::write_object(NewRecord record, const Entry& entry,
                                             const Entry* superseded) {
  record.header.kind = RecordKind::object;
  note_object(record.header, entry);
  const bool freshens = superseded && superseded->object == entry.object;
  return taken_if(freshens ? disk_.freshen(std::move(record)) : disk_.replace(std::move(record)));
}

}  // namespace proxy::cache
