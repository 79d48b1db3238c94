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
  const auto same = [](const SliceView& left, const SliceView& right) {
    return left.block == right.block && left.size == right.size;
  };
  return !a.object() && !b.object() &&
         std::equal(a.body.slices.begin(), a.body.slices.end(), b.body.slices.begin(),
                    b.body.slices.end(), same);
}

EntryWriter::Taken taken_if(const Result<void>& taken) {
  return taken ? EntryWriter::Taken::yes : EntryWriter::Taken::no;
}

}  // namespace

std::vector<disk::RecordPiece> pieces_of(const Ref<const Entry>& entry) {
  std::vector<disk::RecordPiece> pieces;
  if (entry->body.slices.empty()) return pieces;
  const std::shared_ptr<const void> owner(entry.get(), [entry](const void* /*of_entry*/) {});
  for (const SliceView slice : entry->body.slices) {
    pieces.push_back({owner, disk::bytes_of({slice.block->data(), slice.size})});
  }
  return pieces;
}

std::uint64_t EntryWriter::most_whole() const {
  const auto most = std::min(disk_.most_bytes(), kMostWhole);
  return most - std::min(most, 4 * kFixed);  // for a large head
}

bool EntryWriter::fits(const Entry& entry) const {
  const auto body = entry.object() ? 0 : entry.body.size;
  const auto bytes = entry.url().size() + 2 * entry.head().size() + body + kFixed;
  const bool whole = entry.object() || (!entry.range() && entry.status != 206);
  return whole && bytes <= std::min(disk_.most_bytes(), kMostWhole);
}

EntryWriter::Taken EntryWriter::write(const Key& key, const Kept& response, const Kept& superseded,
                                      std::uint64_t selector) {
  const auto& entry = response.entry;
  if (!fits(*entry)) {
    if (disk_.may_hold(key)) disk_.purge(key, {});
    return Taken::no;
  }
  RecordHeader header{.kind = RecordKind::whole, .key = key};
  if (selector == 0) note_claim(header, *entry);
  note_times(header, entry->times());
  header.set_giver(entry->giver().tag);
  NewRecord record{
      .header = header, .url = std::string(entry->url()), .head = encode_head(*entry, selector)};
  record.done = [this, response, key](Result<disk::Position> at) {
    if (!at) return;
    response.on_disk->set(key, to_number(*at), to_number(*at));
    written_(key, *response.entry);
  };
  if (entry->object()) return write_object(std::move(record), *entry, superseded.entry.get());
  const auto present = disk_.catalog().index.find(key);
  const auto front = superseded.on_disk ? superseded.on_disk->front() : 0;
  const bool newer_head = front != 0 && present && to_number(present->at) == front &&
                          same_body(*entry, *superseded.entry);
  if (newer_head) {
    record.replaces = present->at;
    return write_head(std::move(record), response, superseded.on_disk->body());
  }
  record.body = pieces_of(entry);
  return taken_if(disk_.replace(std::move(record)));
}

// `body`: the record that has the body.
EntryWriter::Taken EntryWriter::write_head(NewRecord record, const Kept& response,
                                           std::uint64_t body) {
  record.header.kind = RecordKind::head;
  record.header.version = body;
  record.body_if_moved = pieces_of(response.entry);
  record.done = [this, response, key = record.header.key, body](Result<disk::Position> at) {
    if (!at) return;
    const auto location = disk_.catalog().index.find(key);
    const bool moved = location && location->at == *at && location->kind == RecordKind::whole;
    response.on_disk->set(key, to_number(*at), moved ? to_number(*at) : body);
    written_(key, *response.entry);
  };
  return taken_if(disk_.freshen(std::move(record)));
}

// An object stays in the index while its head is freshened: otherwise its blocks would count as
// orphans.
EntryWriter::Taken EntryWriter::write_object(NewRecord record, const Entry& entry,
                                             const Entry* superseded) {
  record.header.kind = RecordKind::object;
  note_object(record.header, entry);
  const bool freshens = superseded && superseded->object() == entry.object();
  return taken_if(freshens ? disk_.freshen(std::move(record)) : disk_.replace(std::move(record)));
}

}  // namespace proxy::cache
