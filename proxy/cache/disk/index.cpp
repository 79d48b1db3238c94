#include "proxy/cache/disk/index.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "proxy/cache/disk/index_shard.hpp"

namespace proxy::cache::disk {

using digest::Collected;
using digest::KeyChange;

namespace {

constexpr std::size_t kShards = Index::kShards;
constexpr std::size_t kParts = 4096;  // of the keys, distributed to the shards

// Which shard each part belongs to. Shard i has a share proportional to 2^(i / 128): at any number
// of entries, as many shards are just before their doubling as just after it.
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

std::size_t owner_of(const Key& key) {
  return kOwners[digest::part_of(key, kParts)];
}

void apply_suspension(IndexShard* shards, const std::atomic<std::uint8_t>& reasons) {
  for (std::size_t i = 0; i < kShards; ++i) {
    const threads::MutexLock lock(shards[i].mutex);
    shards[i].apply_suspension(reasons);
  }
}

}  // namespace

Index::Index(std::uint32_t origin)
    : origin_(origin), shards_(std::make_unique<IndexShard[]>(kShards)) {
  for (std::size_t i = 0; i < kShards; ++i) shards_[i].begin(bytes_, origin);
}

Index::~Index() = default;

IndexShard& Index::shard_of(const Key& key) const {
  return shards_[owner_of(key)];
}

std::optional<Location> Index::find(const Key& key) const {
  IndexShard& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  const PackedLocation* place = shard.find(key);
  return place ? std::optional(place->unpack(origin_)) : std::nullopt;
}

std::optional<Location> Index::use(const Key& key) {
  IndexShard& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  PackedLocation* place = shard.find(key);
  if (!place) return std::nullopt;
  place->use();
  return place->unpack(origin_);
}

void Index::add_hits(const Key& key, std::uint32_t hits) {
  IndexShard& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  if (PackedLocation* place = shard.find(key)) place->add_hits(hits);
}

void Index::put(const Key& key, const Location& place) {
  IndexShard& shard = shard_of(key);
  // Packed before the lock is taken, as all threads want the shard.
  const PackedLocation packed(place, origin_);
  const threads::MutexLock lock(shard.mutex);
  if (PackedLocation* present = shard.find(key)) return shard.replace(key, *present, packed);
  shard.insert(key, packed);
  entries_.fetch_add(1, std::memory_order_relaxed);
}

void Index::apply(std::span<const Listed> records, std::uint32_t segment) {
  const auto apply_in = [&](IndexShard& shard, std::span<const Listed> of_shard) {
    const threads::MutexLock lock(shard.mutex);
    const auto before = shard.map->size();
    for (const Listed& listed : of_shard) {
      shard.apply(listed, PackedLocation(location_of(listed, segment), origin_));
    }
    entries_.fetch_add(shard.map->size() - before, std::memory_order_relaxed);
  };
  // To sort pays only if a shard gets more than one record.
  if (records.size() < kShards) {
    for (const Listed& listed : records) apply_in(shard_of(listed.key), {&listed, 1});
    return;
  }
  std::array<std::uint32_t, kShards + 1> begins{};
  for (const Listed& listed : records) begins[owner_of(listed.key) + 1] += 1;
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  auto next = begins;
  // A counting sort: the records of one shard must stay in order.
  std::vector<Listed> sorted(records.size());  // by shard; those of one shard in their order
  for (const Listed& listed : records) sorted[next[owner_of(listed.key)]++] = listed;
  for (std::size_t i = 0; i < kShards; ++i) {
    const auto count = begins[i + 1] - begins[i];
    apply_in(shards_[i], std::span(sorted).subspan(begins[i], count));
  }
}

bool Index::erase(const Key& key) {
  IndexShard& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  if (!shard.erase(key)) return false;
  entries_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

bool Index::erase_at(const Key& key, Position at) {
  IndexShard& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  if (!shard.find_at(key, at)) return false;
  shard.erase(key);
  entries_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

bool Index::replace_at(const Key& key, Position at, const Location& place) {
  IndexShard& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  PackedLocation* present = shard.find_at(key, at);
  if (!present) return false;
  PackedLocation moved(place, origin_);
  moved.add_hits(present->hits);
  shard.replace(key, *present, moved);
  return true;
}

void Index::set_claim(const Key& key, Position at, std::uint32_t until) {
  IndexShard& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  PackedLocation* present = shard.find_at(key, at);
  if (!present) return;
  Location place = present->unpack(origin_);
  place.claimable_until = until;
  shard.replace(key, *present, PackedLocation(place, origin_));
}

std::size_t Index::erase_segment(std::uint32_t segment) {
  std::size_t erased = 0;
  for (std::size_t i = 0; i < kShards; ++i) {
    const threads::MutexLock lock(shards_[i].mutex);
    erased += shards_[i].erase_segment(segment);
  }
  entries_.fetch_sub(erased, std::memory_order_relaxed);
  return erased;
}

void Index::each_in(std::size_t shard,
                    const std::function<void(const Key&, const Location&)>& visit) const {
  const threads::MutexLock lock(shards_[shard].mutex);
  for (const auto& [key, place] : *shards_[shard].map) visit(key, place.unpack(origin_));
}

void Index::each(const std::function<void(const Key&, const Location&)>& visit) const {
  for (std::size_t i = 0; i < kShards; ++i) each_in(i, visit);
}

void Index::clear() {
  for (std::size_t i = 0; i < kShards; ++i) {
    // Declared before the lock, so that the memory is freed after it is released.
    std::optional<IndexShard::Map> dropped;
    const threads::MutexLock lock(shards_[i].mutex);
    entries_.fetch_sub(shards_[i].map->size(), std::memory_order_relaxed);
    dropped.swap(shards_[i].map);
    shards_[i].begin(bytes_, origin_);
  }
}

void Index::shrink() {
  for (std::size_t i = 0; i < kShards; ++i) {
    const threads::MutexLock lock(shards_[i].mutex);
    shards_[i].map->rehash(0);
  }
}

bool Index::change_above(const Claim& claim, KeyChange::What what) {
  IndexShard& shard = shard_of(claim.key);
  const threads::MutexLock lock(shard.mutex);
  return shard.change_above(claim, what);
}

// `outlast` differs from shard to shard, so that collect_claims() has to look at the entries of a
// few shards each second, and not at all entries at once.
void Index::list_claims(std::uint32_t outlast, std::vector<Claim>& out) {
  for (std::size_t i = 0; i < kShards; ++i) {
    const auto turn = static_cast<std::uint32_t>(1 + i * kClaimTurn / kShards);
    const threads::MutexLock lock(shards_[i].mutex);
    shards_[i].list_claims(outlast + turn, out);
  }
}

Collected Index::collect_claims(std::uint32_t outlast, std::vector<KeyChange>& out) {
  auto all = Collected::complete;
  for (std::size_t i = 0; i < kShards; ++i) {
    const threads::MutexLock lock(shards_[i].mutex);
    const auto each = shards_[i].collect_claims(outlast, out);
    if (each == Collected::overflowed) all = each;
  }
  return all;
}

void Index::suspend_claims(Unclaimed why) {
  const auto bit = static_cast<std::uint8_t>(why);
  if ((suspended_.fetch_or(bit) & bit) == 0) apply_suspension(shards_.get(), suspended_);
}

void Index::resume_claims(Unclaimed why) {
  const auto bit = static_cast<std::uint8_t>(why);
  if ((suspended_.fetch_and(static_cast<std::uint8_t>(~bit)) & bit) != 0)
    apply_suspension(shards_.get(), suspended_);
}

std::size_t Index::count(RecordKind kind) const {
  std::size_t all = 0;
  for (std::size_t i = 0; i < kShards; ++i) {
    const threads::MutexLock lock(shards_[i].mutex);
    all += shards_[i].counts[static_cast<std::size_t>(kind)];
  }
  return all;
}

Walk::Walk(const Index& index, std::function<bool(const Location&)> wanted)
    : index_(index), wanted_(std::move(wanted)) {
  index_.each([this](const Key&, const Location& place) { end_ = std::max(end_, place.at); });
}

// Gathers the next kAhead entries in the order of the log. The shards are in no order, so each may
// have entries that lie before those gathered so far. `cut` keeps the first kAhead and drops the
// others. It runs only once there are twice as many, because it looks at every gathered entry.
void Walk::gather() {
  ahead_.clear();
  met_ = 0;
  Position last = end_;
  const auto cut = [&] {
    const auto middle = ahead_.begin() + kAhead;
    std::nth_element(ahead_.begin(), middle - 1, ahead_.end(), lies_before);
    ahead_.erase(middle, ahead_.end());
    last = ahead_.back().at;
  };
  for (std::size_t shard = 0; shard < Index::kShards; ++shard) {
    index_.each_in(shard, [&](const Key& key, const Location& place) {
      if (place.at > passed_ && place.at <= last && wanted_(place))
        ahead_.push_back({key, place.at});
    });
    if (ahead_.size() > 2 * kAhead) cut();
  }
  if (ahead_.size() > kAhead) cut();
  std::ranges::sort(ahead_, lies_before);
  passed_ = last;
}

std::optional<Walk::Step> Walk::next() {
  for (;;) {
    if (met_ == ahead_.size()) {
      if (passed_ >= end_) return std::nullopt;
      gather();
      continue;
    }
    const Key& key = ahead_[met_++].key;
    const auto place = index_.find(key);  // the entry may have been copied or replaced meanwhile
    if (place && wanted_(*place)) return Step{key, *place};
  }
}

}  // namespace proxy::cache::disk
