#include "proxy/inspect/live_parts.hpp"

#include <algorithm>
#include <vector>

namespace proxy::inspect {

namespace disk = cache::disk;
using disk::RecordKind;

namespace {

// The most blocks that are looked up, since an origin may state any length for an object.
constexpr std::uint32_t kLookedFor = std::uint32_t{1} << 18;

}  // namespace

bool is_response(const disk::Location& place) {
  return place.kind != RecordKind::block && place.kind != RecordKind::selector;
}

StoredBlocks LiveRelations::blocks(const disk::Key& url_key, std::string_view url,
                                   std::uint64_t version, std::uint64_t length) const {
  StoredBlocks held;
  const auto all = cache::blocks_in(std::min(length, cache::kLargestObject));
  // No record lists the blocks of an object (cache/object.hpp), so each one is looked up.
  for (std::uint32_t number = 0; number < std::min(all, kLookedFor); ++number) {
    const auto key = disk::block_key(url_key, version, number);
    const bool written = live_.disk && live_.disk->disk().catalog().index.find(key);
    if (!written && !live_.memory.holds(key)) continue;
    const auto bytes = cache::bytes_of_block(number, length).size();
    held.numbers.push_back(number);
    held.bytes += bytes;
    if (written) held.disk_bytes += disk::kRecordHeaderBytes + url.size() + bytes;
  }
  return held;
}

StoredBlocks LiveRelations::stored_blocks(const disk::StoredRecord& object,
                                          std::uint64_t length) const {
  const auto url = object.url();
  return blocks(digest::key_of(digest::Method::get, url), url, object.header().version, length);
}

StoredBlocks LiveRelations::stored_blocks(const disk::Key& url_key,
                                          const cache::Entry& entry) const {
  if (!entry.object()) return {};
  return blocks(url_key, entry.url(), entry.object()->version, entry.body.size);
}

std::optional<LiveRelations::Opened> LiveRelations::open(const disk::Key& key,
                                                         std::string_view url) const {
  if (!live_.disk) return {};
  auto& store = live_.disk->disk();
  const auto place = store.catalog().index.find(key);
  // The index knows keys alone: holds() spares a read of a record whose URL is another.
  if (!place || !store.holds(key, url, place->at)) return {};
  auto record = store.open(key, *place, disk::Wait::yes);
  if (!record || record->url() != url) return {};
  return Opened{{key, *place}, std::move(*record)};
}

std::optional<cache::Selector> LiveRelations::selector(const disk::Key& url_key,
                                                       std::string_view url) const {
  const auto opened = open(url_key, url);
  const bool leads = opened && opened->at.place.kind == RecordKind::selector;
  return leads ? cache::decode_selector(opened->record.head()) : std::nullopt;
}

bool LiveRelations::leads_to(const disk::StoredRecord& variant, std::uint64_t number) const {
  if (number == 0) return true;
  const auto url = variant.url();
  const auto leading = selector(digest::key_of(digest::Method::get, url), url);
  return leading && leading->number == number;
}

bool LiveRelations::on_disk(const cache::Store::Response& held) const {
  // The disk keeps no parts, except of objects.
  if (!live_.disk || (held.entry->range() && !held.entry->object())) return false;
  const auto& index = live_.disk->disk().catalog().index;
  const auto place = index.find(held.key);
  const auto& variant = held.entry->variant();
  if (!place || !variant.varies()) return place && place->kind != RecordKind::selector;
  const auto leading = selector(held.key, held.entry->url());
  return leading && index.find(cache::variant_key(held.key, leading->number, variant));
}

EntryFacts LiveRelations::facts_in_memory(const cache::Store::Response& held,
                                          cache::Time now) const {
  auto facts = facts_of(*held.entry, stored_blocks(held.key, *held.entry), now);
  facts.hits = held.hits;
  return facts;
}

void LiveRelations::add_uses(EntryFacts& facts, std::string_view url,
                             const disk::Walk::Step& step) const {
  std::uint64_t hits = step.place.hits;
  std::vector<cache::Store::Response> held;
  live_.memory.look(digest::key_of(digest::Method::get, url), held);
  for (const auto& one : held) {
    const auto& on_disk = one.on_disk;
    if (!on_disk || on_disk->front() == 0 || on_disk->key() != step.key) continue;
    hits += one.hits;
    facts.where = "memory and disk";
  }
  facts.hits = hits;
}

}  // namespace proxy::inspect
