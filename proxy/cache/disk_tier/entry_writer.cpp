#include "proxy/cache/disk_tier/entry_writer.hpp"

#include <algorithm>

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

}  // namespace

std::vector<disk::RecordPiece> pieces_of(const Ref<const Entry>& entry) {
  std::vector<disk::RecordPiece> pieces;
  if (entry->body.slices.empty()) return pieces;
  // The disk knows no entries; a piece keeps alive whatever owns its bytes.
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
  // The body of an object lies in its blocks.
  const auto body = entry.object() ? 0 : entry.body.size;
  const auto bytes = entry.url().size() + 2 * entry.head().size() + body + kFixed;
  const bool whole = entry.object() || (!entry.range() && entry.status != 206);
  return whole && bytes <= std::min(disk_.most_bytes(), kMostWhole);
}

EntryWriter::Taken EntryWriter::write(const Key& key, const Kept& response, const Kept& superseded,
                                      std::uint64_t selector) {
  const auto& entry = response.entry;
  if (!fits(*entry)) {
    // What the disk has is older than what memory has got now, and must not come back.
    if (disk_.may_hold(key)) disk_.purge(key, {});
    return Taken::no;
  }
  RecordHeader header{.kind = RecordKind::whole, .key = key};
  // The claim of a variant stands in the record of the selector: digests know URLs.
  if (selector == 0) write_claim(header, *entry);
  write_times(header, entry->times());
  header.set_giver(entry->giver().tag);
  NewRecord record{
      .header = header, .url = std::string(entry->url()), .head = encode_head(*entry, selector)};
  bool freshens = false;
  std::uint64_t body = 0;  // the record that has the body, if it is another one
  if (entry->object()) {
    record.header.kind = RecordKind::object;
    note_object(record.header, *entry);
    // An object stays in the index while its head is freshened: otherwise its blocks would count as
    // orphans.
    freshens = superseded.entry && superseded.entry->object() == entry->object();
  } else if (const auto present = shared_body(key, *entry, superseded)) {
    freshens = true;
    body = superseded.on_disk->body();
    record.header.kind = RecordKind::head;
    record.header.version = body;
    record.replaces = *present;
    // Reclaiming may have moved the body meanwhile: then the record is written whole.
    record.body_if_moved = pieces_of(entry);
  } else {
    record.body = pieces_of(entry);
  }
  record.done = [this, response, key, body](const Result<disk::Position>& at) {
    if (!at) return;
    const auto location = disk_.catalog().index.find(key);
    const bool moved = location && location->at == *at && location->kind == RecordKind::whole;
    const auto front = to_number(*at);
    response.on_disk->set(key, front, body == 0 || moved ? front : body);
    written_(key, *response.entry);
  };
  const auto taken = freshens ? disk_.freshen(std::move(record)) : disk_.replace(std::move(record));
  return taken ? Taken::yes : Taken::no;
}

std::optional<disk::Position> EntryWriter::shared_body(const Key& key, const Entry& entry,
                                                       const Kept& superseded) const {
  const auto present = disk_.catalog().index.find(key);
  const auto front = superseded.on_disk ? superseded.on_disk->front() : 0;
  const bool is_shared = front != 0 && present && to_number(present->at) == front &&
                         same_body(entry, *superseded.entry);
  return is_shared ? std::optional(present->at) : std::nullopt;
}

}  // namespace proxy::cache
