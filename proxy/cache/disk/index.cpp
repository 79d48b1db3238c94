#include "proxy/cache/disk/index.hpp"

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>

namespace proxy::cache::disk {
namespace {

constexpr std::size_t kShards = Index::kShards;
constexpr std::size_t kParts = 4096;  // of the keys, given to the shards

// Which shard each part belongs to. Shares of s * 2^(i / 128): at any number of entries as many
// shards are just before their doubling as just behind it.
std::array<std::uint8_t, kParts> give_out() {
  std::array<std::uint8_t, kParts> owners{};
  // The shares of shards 0 to i add up to 2^((i + 1) / 128) - 1 of all.
  for (std::size_t part = 0; part < kParts; ++part) {
    const double share = (static_cast<double>(part) + 0.5) / kParts;
    owners[part] = static_cast<std::uint8_t>(std::log2(1 + share) * kShards);
  }
  return owners;
}

const std::array<std::uint8_t, kParts> kOwners = give_out();

// The hashes of the maps take the first bytes of a key; parts go by the last ones.
std::size_t owner_of(const Key& key) {
  return kOwners[(key.bytes[14] | std::size_t{key.bytes[15]} << 8) % kParts];
}

// Counts what it allocates.
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

}  // namespace

class IndexShard {
 public:
  using Slot = std::pair<const Key, PackedPlace>;
  static_assert(sizeof(Slot) == 28);
  using Map = boost::unordered_flat_map<Key, PackedPlace, digest::KeyHash, std::equal_to<Key>,
                                        Counting<Slot>>;

  void begin(std::atomic<std::uint64_t>& bytes) { map.emplace(Counting<Slot>(bytes)); }

  // The caller holds the lock. Null if it is not there, or not at that position.
  PackedPlace* find(const Key& key) {
    const auto found = map->find(key);
    return found == map->end() ? nullptr : &found->second;
  }
  PackedPlace* find_at(const Key& key, Position at) {
    PackedPlace* place = find(key);
    return place && place->at() == at ? place : nullptr;
  }

  std::mutex mutex;
  std::optional<Map> map;  // guarded
};

Index::Index(std::uint32_t origin)
    : origin_(origin), shards_(std::make_unique<IndexShard[]>(kShards)) {
  for (std::size_t i = 0; i < kShards; ++i) shards_[i].begin(bytes_);
}

Index::~Index() = default;

IndexShard& Index::shard_of(const Key& key) const {
  return shards_[owner_of(key)];
}

std::optional<Place> Index::find(const Key& key) const {
  IndexShard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  const PackedPlace* place = shard.find(key);
  return place ? std::optional(place->unpack(origin_)) : std::nullopt;
}

std::optional<Place> Index::use(const Key& key) {
  IndexShard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  PackedPlace* place = shard.find(key);
  if (!place) return std::nullopt;
  place->use();
  return place->unpack(origin_);
}

void Index::put(const Key& key, const Place& place) {
  IndexShard& shard = shard_of(key);
  const PackedPlace packed(place, origin_);
  const std::lock_guard lock(shard.mutex);
  if (shard.map->insert_or_assign(key, packed).second) {
    entries_.fetch_add(1, std::memory_order_relaxed);
  }
}

bool Index::erase(const Key& key) {
  IndexShard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  if (shard.map->erase(key) == 0) return false;
  entries_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

bool Index::erase_at(const Key& key, Position at) {
  IndexShard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  if (!shard.find_at(key, at)) return false;
  shard.map->erase(key);
  entries_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

bool Index::replace_at(const Key& key, Position at, const Place& place) {
  IndexShard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  PackedPlace* held = shard.find_at(key, at);
  if (!held) return false;
  *held = PackedPlace(place, origin_);
  return true;
}

std::size_t Index::erase_segment(std::uint32_t segment) {
  std::size_t erased = 0;
  for (std::size_t i = 0; i < kShards; ++i) {
    const std::lock_guard lock(shards_[i].mutex);
    erased += boost::unordered::erase_if(*shards_[i].map, [segment](const auto& slot) {
      return slot.second.at().segment == segment;
    });
  }
  entries_.fetch_sub(erased, std::memory_order_relaxed);
  return erased;
}

void Index::each_in(std::size_t shard,
                    const std::function<void(const Key&, const Place&)>& visit) const {
  const std::lock_guard lock(shards_[shard].mutex);
  for (const auto& [key, place] : *shards_[shard].map) visit(key, place.unpack(origin_));
}

void Index::each(const std::function<void(const Key&, const Place&)>& visit) const {
  for (std::size_t i = 0; i < kShards; ++i) each_in(i, visit);
}

void Index::clear() {
  for (std::size_t i = 0; i < kShards; ++i) {
    std::optional<IndexShard::Map> dropped;
    const std::lock_guard lock(shards_[i].mutex);
    entries_.fetch_sub(shards_[i].map->size(), std::memory_order_relaxed);
    dropped.swap(shards_[i].map);
    shards_[i].begin(bytes_);
  }
}

std::size_t Index::largest_shard() const {
  std::size_t largest = 0;
  for (std::size_t i = 0; i < kShards; ++i) {
    const std::lock_guard lock(shards_[i].mutex);
    largest = std::max(largest, shards_[i].map->size());
  }
  return largest;
}

}  // namespace proxy::cache::disk
