// One part of the index, and the claims that its entries allow.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <memory>
#include <optional>

#include "peers/threads/mutex.hpp"
#include "proxy/cache/disk/index.hpp"

namespace proxy::cache::disk {

// A Location in 15 bytes, so that a slot of the map has no gaps. Times count from `origin` (seconds
// since 1970): an earlier time becomes 0, and a time more than 17 years later becomes the latest
// possible one.
struct [[gnu::packed]] PackedLocation {
  PackedLocation(const Location& place, std::uint32_t origin)
      : segment(place.at.segment & kLastSegment),
        units(place.at.offset / kAlignment & 0xff'ffff),
        size(size_class(place.bytes) & 0x3ff),
        claimed(0),
        used(place.used ? 1 : 0),
        record_kind(static_cast<std::uint32_t>(place.kind) & 7),
        until(seconds_between(origin, place.claimable_until) & kLatest),
        rule(place.rule & (digest::kMostMarks - 1)),
        hits(std::min(place.hits, kMostHits) & kMostHits) {}

  Location unpack(std::uint32_t origin) const {
    return {.at = at(),
            .bytes = class_bytes(size),
            .claimable_until = until == 0 ? 0 : origin + until,
            .kind = kind(),
            .used = used != 0,
            .hits = hits,
            .rule = rule};
  }

  Position at() const { return {static_cast<std::uint32_t>(segment), units * kAlignment}; }
  RecordKind kind() const { return static_cast<RecordKind>(record_kind); }
  void use() {
    used = 1;
    add_hits(1);
  }
  void add_hits(std::uint32_t more) {
    hits = (hits + std::min<std::uint32_t>(more, kMostHits - hits)) & kMostHits;
  }

  std::uint64_t segment : 28;
  std::uint64_t units : 24;   // the offset, in units of 16 bytes
  std::uint64_t size : 10;    // its class
  std::uint64_t claimed : 1;  // whether the index counts the key as claimed; no part of a Location
  std::uint64_t used : 1;
  std::uint32_t record_kind : 3;
  std::uint32_t until : 29;
  std::uint16_t rule : 12;
  std::uint16_t hits : 12;

 private:
  static constexpr std::uint32_t kLatest = (std::uint32_t{1} << 29) - 1;

  static constexpr std::uint32_t seconds_between(std::uint32_t origin, std::uint32_t until) {
    return until > origin ? std::min(until - origin, kLatest) : 0;
  }
  // Units of 16 bytes as a floating point number with 5 bits after the leading one, rounded up.
  static constexpr std::uint32_t size_class(std::uint32_t bytes) {
    std::uint32_t units = (bytes + kAlignment - 1) / kAlignment;
    if (units < 64) return units;
    auto exponent = static_cast<std::uint32_t>(std::bit_width(units)) - 6;
    units = (units + (1U << exponent) - 1) >> exponent;
    return exponent * 32 + units;  // 64 units carry over into the next exponent
  }
  static constexpr std::uint32_t class_bytes(std::uint32_t size) {
    if (size < 64) return size * kAlignment;
    const std::uint32_t exponent = size / 32 - 1;
    return (size - exponent * 32) << exponent << 4;
  }
};
static_assert(sizeof(PackedLocation) == 15);
static_assert(digest::kMostMarks == 1U << 12);

// An allocator that counts its bytes.
template <class T>
struct Counting {
  using value_type = T;

  explicit Counting(std::atomic<std::uint64_t>& its_bytes) : bytes(&its_bytes) {}
  template <class U>
  explicit Counting(const Counting<U>& other) : bytes(other.bytes) {}

  T* allocate(std::size_t count) {
    T* made = std::allocator<T>().allocate(count);
    bytes->fetch_add(count * sizeof(T), std::memory_order_relaxed);
    return made;
  }
  void deallocate(T* made, std::size_t count) {
    bytes->fetch_sub(count * sizeof(T), std::memory_order_relaxed);
    std::allocator<T>().deallocate(made, count);
  }
  template <class U>
  bool operator==(const Counting<U>& other) const {
    return bytes == other.bytes;
  }

  std::atomic<std::uint64_t>* bytes;
};

// The caller holds the shard's mutex for every call.
class IndexShard {
 public:
  using What = digest::KeyChange::What;
  using Slot = std::pair<const Key, PackedLocation>;
  static_assert(sizeof(Slot) == 31);
  using Map = boost::unordered_flat_map<Key, PackedLocation, digest::KeyHash, std::equal_to<Key>,
                                        Counting<Slot>>;
  using Set =
      boost::unordered_flat_set<Claim, digest::ClaimHash, std::equal_to<Claim>, Counting<Claim>>;

  // Makes the shard empty, but keeps the claims from above. Claims have to be listed again.
  void begin(std::atomic<std::uint64_t>& bytes, std::uint32_t origin) REQUIRES(mutex) {
    map.emplace(Counting<Slot>(bytes));
    if (!above_) above_.emplace(Counting<Claim>(bytes));
    counts = {};
    origin_ = origin;
    give_up_changes();
  }

  // Finds the entry at this position. Null if the key is missing, or its entry is at another
  // position.
  PackedLocation* find(const Key& key) REQUIRES(mutex) {
    const auto found = map->find(key);
    return found == map->end() ? nullptr : &found->second;
  }
  PackedLocation* find_at(const Key& key, Position at) REQUIRES(mutex) {
    PackedLocation* place = find(key);
    return place && place->at() == at ? place : nullptr;
  }
  void insert(const Key& key, PackedLocation place) REQUIRES(mutex) {
    place.claimed = outlasts(place) ? 1 : 0;
    record_claim(key, place, What::added);
    map->emplace(key, place);
    count(place) += 1;
  }
  void replace(const Key& key, PackedLocation& present, PackedLocation place) REQUIRES(mutex) {
    place.claimed = outlasts(place) ? 1 : 0;
    const bool same = present.claimed && place.claimed && present.rule == place.rule;
    if (!same) record_claim(key, place, What::added);
    if (!same) record_claim(key, present, What::removed);
    count(present) -= 1;
    count(place) += 1;
    present = place;
  }
  // Applies the record as Index::apply() does.
  void apply(const Listed& listed, const PackedLocation& place) REQUIRES(mutex) {
    if (is_purge(listed.kind)) {
      erase(listed.key);
    } else if (PackedLocation* present = find(listed.key)) {
      replace(listed.key, *present, place);
    } else if (listed.kind != RecordKind::head) {
      // The segment with the body of a head may have been reclaimed. Then that head has no body.
      insert(listed.key, place);
    }
  }
  bool erase(const Key& key) REQUIRES(mutex) {
    const auto found = map->find(key);
    if (found == map->end()) return false;
    record_claim(key, found->second, What::removed);
    count(found->second) -= 1;
    map->erase(found);
    return true;
  }
  std::size_t erase_segment(std::uint32_t segment) REQUIRES(mutex) {
    return boost::unordered::erase_if(*map, [&](const auto& slot) REQUIRES(mutex) {
      if (slot.second.at().segment != segment) return false;
      record_claim(slot.first, slot.second, What::removed);
      count(slot.second) -= 1;
      return true;
    });
  }

  // Changes the entries as Index::change_above() does.
  bool change_above(const Claim& claim, What what) REQUIRES(mutex) {
    const bool is_new =
        what == What::added ? above_->insert(claim).second : above_->erase(claim) > 0;
    const bool changes = is_new && !claims(claim);
    if (changes) change(claim, what);
    return changes;
  }
  // `reasons`: bits of Unclaimed.
  void apply_suspension(std::uint8_t reasons) REQUIRES(mutex) {
    suspended_ = reasons;
    give_up_changes();
  }
  void list_claims(std::uint32_t outlast, std::vector<Claim>& out) REQUIRES(mutex) {
    follows_ = true;
    outlast_ = outlast;
    changes_.clear();
    for (auto& [key, place] : *map) {
      place.claimed = outlasts(place) ? 1 : 0;
      if (place.claimed) out.push_back({key, place.rule});
    }
    for (const Claim& claim : *above_) {
      if (!claims(claim)) out.push_back(claim);
    }
  }
  digest::Collected collect_claims(std::uint32_t outlast, std::vector<digest::KeyChange>& out)
      REQUIRES(mutex) {
    if (follows_ && outlast >= outlast_) end_claims(outlast + Index::kClaimTurn);
    if (!follows_) return digest::Collected::overflowed;
    out.insert(out.end(), changes_.begin(), changes_.end());
    changes_.clear();
    return digest::Collected::complete;
  }

  threads::Mutex mutex{threads::Place::third};
  std::optional<Map> map GUARDED_BY(mutex);
  std::array<std::uint32_t, 8> counts GUARDED_BY(mutex){};  // of entries, by kind

 private:
  static constexpr std::size_t kMostChanges = 1024;  // that may wait to be collected

  std::uint32_t& count(const PackedLocation& place) REQUIRES(mutex) {
    return counts[static_cast<std::size_t>(place.kind())];
  }
  bool outlasts(const PackedLocation& place) const REQUIRES(mutex) {
    return follows_ && suspended_ == 0 && place.unpack(origin_).claimable_until > outlast_;
  }
  bool claims(const Claim& claim) REQUIRES(mutex) {
    const PackedLocation* place = find(claim.key);
    return place && place->claimed && place->rule == claim.rule;
  }
  // The claim of a location, if it is claimed, begins or ends.
  void record_claim(const Key& key, const PackedLocation& place, What what) REQUIRES(mutex) {
    const Claim claim{key, place.rule};
    if (place.claimed && !above_->contains(claim)) change(claim, what);
  }
  void change(const Claim& claim, What what) REQUIRES(mutex) {
    if (!follows_) return;
    changes_.push_back({claim.key, what, claim.rule});
    if (changes_.size() > kMostChanges) give_up_changes();
  }
  void give_up_changes() REQUIRES(mutex) {
    follows_ = false;
    changes_ = {};
  }
  void end_claims(std::uint32_t outlast) REQUIRES(mutex) {
    outlast_ = outlast;
    for (auto& [key, place] : *map) {
      if (!place.claimed || outlasts(place)) continue;
      record_claim(key, place, What::removed);
      place.claimed = 0;
    }
  }

  std::uint32_t origin_ GUARDED_BY(mutex) = 0;
  std::optional<Set> above_ GUARDED_BY(mutex);    // claims of the store above
  std::uint8_t suspended_ GUARDED_BY(mutex) = 0;  // why no location is claimed
  // True: changes are kept for the next collect_claims(). While false, the claim bits in the map
  // have no meaning.
  bool follows_ GUARDED_BY(mutex) = false;
  std::uint32_t outlast_ GUARDED_BY(mutex) = 0;  // a claim that ends by then does not count
  std::vector<digest::KeyChange> changes_ GUARDED_BY(mutex);
};

}  // namespace proxy::cache::disk
