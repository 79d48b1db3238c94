// One part of the index, and the claims that its entries allow.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <memory>
#include <optional>

#include "peers/threads/mutex.hpp"
#include "proxy/cache/disk/index.hpp"

namespace proxy::cache::disk {

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

  // Null if the key is missing, or its entry is at another position.
  PackedLocation* find(const Key& key) REQUIRES(mutex) {
    const auto found = map->find(key);
    return found == map->end() ? nullptr : &found->second;
  }
  PackedLocation* find_at(const Key& key, Position at) REQUIRES(mutex) {
    PackedLocation* place = find(key);
    return place && place->at() == at ? place : nullptr;
  }
  void insert(const Key& key, PackedLocation place) REQUIRES(mutex) {
    place.claim(outlasts(place));
    begin_claim(key, place);
    map->emplace(key, place);
    count(place) += 1;
  }
  void replace(const Key& key, PackedLocation& present, PackedLocation place) REQUIRES(mutex) {
    place.claim(outlasts(place));
    const bool same = present.claimed() && place.claimed() && present.rule() == place.rule();
    if (!same) begin_claim(key, place);
    if (!same) end_claim(key, present);
    count(present) -= 1;
    count(place) += 1;
    present = place;
  }
  // As Index::apply().
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
    end_claim(key, found->second);
    count(found->second) -= 1;
    map->erase(found);
    return true;
  }
  std::size_t erase_segment(std::uint32_t segment) REQUIRES(mutex) {
    return boost::unordered::erase_if(*map, [&](const auto& slot) REQUIRES(mutex) {
      if (slot.second.at().segment != segment) return false;
      end_claim(slot.first, slot.second);
      count(slot.second) -= 1;
      return true;
    });
  }

  bool claim_above(const Claim& claim) REQUIRES(mutex) {
    const bool changes = above_->insert(claim).second && !claims(claim);
    if (changes) change(claim, What::added);
    return changes;
  }
  bool unclaim_above(const Claim& claim) REQUIRES(mutex) {
    const bool changes = above_->erase(claim) > 0 && !claims(claim);
    if (changes) change(claim, What::removed);
    return changes;
  }
  void suspend_claims(bool suspended) REQUIRES(mutex) {
    suspended_ = suspended;
    give_up_changes();
  }
  void list_claims(std::uint32_t outlast, std::vector<Claim>& out) REQUIRES(mutex) {
    follows_ = true;
    outlast_ = outlast;
    changes_.clear();
    for (auto& [key, place] : *map) {
      place.claim(outlasts(place));
      if (place.claimed()) out.push_back({key, place.rule()});
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
  using What = digest::KeyChange::What;

  static constexpr std::size_t kMostChanges = 1024;  // that may wait to be collected

  std::uint32_t& count(const PackedLocation& place) REQUIRES(mutex) {
    return counts[static_cast<std::size_t>(place.kind())];
  }
  bool outlasts(const PackedLocation& place) const REQUIRES(mutex) {
    return follows_ && !suspended_ && place.unpack(origin_).claimable_until > outlast_;
  }
  bool claims(const Claim& claim) REQUIRES(mutex) {
    const PackedLocation* place = find(claim.key);
    return place && place->claimed() && place->rule() == claim.rule;
  }
  void begin_claim(const Key& key, const PackedLocation& place) REQUIRES(mutex) {
    note(key, place, What::added);
  }
  void end_claim(const Key& key, const PackedLocation& place) REQUIRES(mutex) {
    note(key, place, What::removed);
  }
  void note(const Key& key, const PackedLocation& place, What what) REQUIRES(mutex) {
    const Claim claim{key, place.rule()};
    if (place.claimed() && !above_->contains(claim)) change(claim, what);
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
      if (!place.claimed() || outlasts(place)) continue;
      end_claim(key, place);
      place.claim(false);
    }
  }

  std::uint32_t origin_ GUARDED_BY(mutex) = 0;
  std::optional<Set> above_ GUARDED_BY(mutex);  // claims of the store above
  bool suspended_ GUARDED_BY(mutex) = false;    // no location is claimed
  // True: changes are kept for the next collect_claims(). While false, the claim bits in the map
  // have no meaning.
  bool follows_ GUARDED_BY(mutex) = false;
  std::uint32_t outlast_ GUARDED_BY(mutex) = 0;  // a claim that ends by then does not count
  std::vector<digest::KeyChange> changes_ GUARDED_BY(mutex);
};

}  // namespace proxy::cache::disk
