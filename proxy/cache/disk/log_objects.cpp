// What of large objects is kept, and what may be claimed of them.
#include <algorithm>
#include <chrono>
#include <utility>

#include "proxy/cache/disk/log.hpp"
#include "proxy/cache/disk/stored.hpp"

namespace proxy::cache::disk {
namespace {

// How many blocks are looked for before an object counts as empty. Its length is told by whoever
// sent it; the segment must not wait for that.
constexpr std::uint32_t kLookedFor = 1024;

Key url_key(std::string_view url) {
  return digest::key_of(digest::Method::get, url);
}

}  // namespace

bool Log::holds_all(const RecordHeader& header, std::string_view url) const {
  const Key key = url_key(url);
  for (std::uint32_t number = 0; number < header.block; ++number) {
    if (!shared_.index.find(block_key(key, header.version, number))) return false;
  }
  return header.block > 0;
}

bool Log::holds_any(const Key& key, const Place& place) const {
  const auto object = Stored::open(shared_.segments, key, place, Wait::yes);
  if (!object) return false;
  const RecordHeader& header = object->header();
  const Key blocks = url_key(object->url());
  for (std::uint32_t number = 0; number < std::min(header.block, kLookedFor); ++number) {
    if (shared_.index.find(block_key(blocks, header.version, number))) return true;
  }
  return false;
}

// Of variants nobody can tell: there is no way from the URL to all of them.
bool Log::is_orphan(const RecordHeader& block) const {
  const auto place = shared_.index.find(block.key);
  if (!place) return true;
  if (place->kind == Kind::selector) return false;
  const auto object = Stored::open(shared_.segments, block.key, *place, Wait::yes);
  return !object || object->header().kind != Kind::object ||
         object->header().version != block.version;
}

Result<void> Log::clear_out_block(const Key& key, const Place& place, Room& room) {
  const auto stored = Stored::open(shared_.segments, key, place, Wait::yes);
  if (!stored) {
    evict(key, place.at);
    return {};
  }
  const RecordHeader& block = stored->header();
  const bool kept = room.entries > 0 && limits_.keep(key, place) && !is_orphan(block);
  if (kept) {
    const auto copied = copy(key, place, room);
    if (!copied || shared_.index.find(key)) return copied;
  } else {
    evict(key, place.at);
  }
  const auto object = shared_.index.find(block.key);
  if (object && object->claimable_until != 0) doubt(block.key, block.version);
  return {};
}

void Log::doubt_objects() {
  std::vector<std::pair<Key, Position>> objects;
  shared_.index.each([&](const Key& key, const Place& place) {
    if (place.kind == Kind::object) objects.emplace_back(key, place.at);
  });
  for (const auto& [key, at] : objects) {
    shared_.index.set_claim(key, at, 0);
    doubt(key, 0);
  }
}

// Whether there was room for the record that says it.
Result<bool> Log::review(const Key& key, std::uint64_t version) {
  const auto flushed = flush();
  if (!flushed) return flushed.error();
  const auto place = shared_.index.find(key);
  if (!place || (place->kind != Kind::object && place->kind != Kind::selector)) return true;
  const auto stored = Stored::open(shared_.segments, key, *place, Wait::yes);
  if (!stored || shared_.rules.purged(stored->url(), place->at)) return true;
  RecordHeader header = stored->header();
  const Key url = url_key(stored->url());
  if (place->kind == Kind::object && url != key) return review(url, 0);  // a variant
  const bool meant = header.claims_blocks() && (version == 0 || header.version == version);
  const bool said = (header.flags & kAllHeld) != 0;
  if (!meant || header.claimable_until == 0 || said == holds_all(header, stored->url())) {
    shared_.index.set_claim(key, place->at, header.claim());
    return true;
  }
  if (said) shared_.index.set_claim(key, place->at, 0);
  if (!current_ || !fits(aligned(header.bytes()))) return false;
  header.flags ^= kAllHeld;
  Record record{
      .header = header, .url = std::string(stored->url()), .head = std::string(stored->head())};
  const auto gathered = gather(std::move(record), place->at);
  if (!gathered) return gathered.error();
  return true;
}

Result<void> Log::review_doubted() {
  for (auto doubted = doubted_.begin(); doubted != doubted_.end();) {
    const auto reviewed = review(doubted->first, doubted->second);
    if (!reviewed) return reviewed.error();
    doubted = *reviewed ? doubted_.erase(doubted) : std::next(doubted);
  }
  return flush();
}

Result<bool> Log::settle_claims() {
  using Steady = std::chrono::steady_clock;
  const auto until = Steady::now() + kStep;
  for (std::size_t seen = 0; seen < kStepEntries && Steady::now() < until; ++seen) {
    if (doubted_.empty()) break;
    const auto doubted = *doubted_.begin();
    auto reviewed = review(doubted.first, doubted.second);
    if (reviewed && !*reviewed) {
      const auto begun = begin_segment(0);
      if (!begun) return begun.error();
      reviewed = review(doubted.first, doubted.second);  // what no segment has room for is left
    }
    if (!reviewed) return reviewed;
    doubted_.erase(doubted);
  }
  const auto flushed = flush();
  if (!flushed) return flushed.error();
  return !doubted_.empty();
}

}  // namespace proxy::cache::disk
