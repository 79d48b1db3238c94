#include "proxy/cache/disk/object_claims.hpp"

#include <algorithm>
#include <vector>

#include "proxy/cache/disk/pace.hpp"
#include "proxy/cache/disk/stored_record.hpp"

namespace proxy::cache::disk {

namespace {

// If the first blocks are missing, no more than these are looked for. A sender may state any length
// for an object, and reclaiming must not take longer for it.
constexpr std::uint32_t kMostBlocksTried = 1024;

Key url_key(std::string_view url) {
  return digest::key_of(digest::Method::get, url);
}

}  // namespace

void ObjectClaims::doubt_objects() {
  std::vector<std::pair<Key, Position>> objects;
  catalog_.index.each([&](const Key& key, const Location& location) {
    if (location.kind == RecordKind::object) objects.emplace_back(key, location.at);
  });
  for (const auto& [key, at] : objects) {
    catalog_.index.set_claim(key, at, 0);
    doubt(key, 0);
  }
}

// The first block that is found, of the first 1024.
std::optional<std::uint32_t> ObjectClaims::first_held(const RecordHeader& header,
                                                      const Key& key) const {
  for (std::uint32_t number = 0; number < std::min(header.block, kMostBlocksTried); ++number) {
    if (catalog_.index.find(block_key(key, header.version, number))) return number;
  }
  return std::nullopt;
}

Blocks ObjectClaims::blocks_held(const RecordHeader& header, std::string_view url) const {
  const Key key = url_key(url);
  const auto first = first_held(header, key);
  if (first != 0) return first ? Blocks::some : Blocks::none;
  for (std::uint32_t number = 1; number < header.block; ++number) {
    if (!catalog_.index.find(block_key(key, header.version, number))) return Blocks::some;
  }
  return Blocks::all;
}

bool ObjectClaims::holds_any(const Key& key, const Location& location) const {
  const auto object = StoredRecord::open(catalog_.segments, key, location, Wait::yes);
  return object && first_held(object->header(), url_key(object->url()));
}

bool ObjectClaims::is_orphan(const RecordHeader& block) const {
  const auto location = catalog_.index.find(block.key);
  if (!location) return true;
  if (location->kind == RecordKind::selector) return false;
  const auto object = StoredRecord::open(catalog_.segments, block.key, *location, Wait::yes);
  return !object || object->header().kind != RecordKind::object ||
         object->header().version != block.version;
}

Result<ObjectClaims::Reviewed> ObjectClaims::review(const Key& key, std::uint64_t version) {
  // The index must have all blocks that were written.
  if (const auto flushed = appender_.flush(); !flushed) return flushed.error();
  const auto location = catalog_.index.find(key);
  if (!location) return Reviewed::done;
  if (location->kind != RecordKind::object && location->kind != RecordKind::selector)
    return Reviewed::done;
  const auto stored = StoredRecord::open(catalog_.segments, key, *location, Wait::yes);
  if (!stored) return Reviewed::done;
  const RecordHeader header = stored->header();
  if (catalog_.rules.purged(stored->url(), location->at, header.giver())) return Reviewed::done;
  const Key url = url_key(stored->url());
  const bool is_variant = location->kind == RecordKind::object && url != key;
  if (is_variant) return review(url, 0);  // the URL's selector has the claim
  const bool meant = header.claims_blocks() && (version == 0 || header.version == version);
  RecordHeader right = header;
  if (meant) right.set_blocks(blocks_held(header, stored->url()));
  if (header.claimable_until == 0 || right.blocks() == header.blocks()) {
    catalog_.index.set_claim(key, location->at, header.claim());
    return Reviewed::done;
  }
  if (right.blocks() < header.blocks()) catalog_.index.set_claim(key, location->at, 0);
  if (!appender_.fits(aligned(header.bytes()))) return Reviewed::no_room;
  NewRecord record{
      .header = right, .url = std::string(stored->url()), .head = std::string(stored->head())};
  const auto gathered = appender_.gather(std::move(record), location->at);
  if (!gathered) return gathered.error();
  return Reviewed::done;
}

Result<void> ObjectClaims::settle_all() {
  for (auto doubted = doubted_.begin(); doubted != doubted_.end();) {
    const auto reviewed = review(doubted->first, doubted->second);
    if (!reviewed) return reviewed.error();
    // Without room the doubt stays, for settle() in the next segment.
    doubted = *reviewed == Reviewed::done ? doubted_.erase(doubted) : std::next(doubted);
  }
  return appender_.flush();
}

Result<bool> ObjectClaims::settle(const std::function<Result<void>()>& begin_segment) {
  for (Step step(catalog_.clock); !doubted_.empty() && step.goes_on();) {
    const auto doubted = *doubted_.begin();
    auto reviewed = review(doubted.first, doubted.second);
    if (reviewed && *reviewed == Reviewed::no_room) {
      if (const auto begun = begin_segment(); !begun) return begun.error();
      // A record that no empty segment holds is left as it is.
      reviewed = review(doubted.first, doubted.second);
    }
    if (!reviewed) return reviewed.error();
    doubted_.erase(doubted);
  }
  if (const auto flushed = appender_.flush(); !flushed) return flushed.error();
  return !doubted_.empty();
}

}  // namespace proxy::cache::disk
