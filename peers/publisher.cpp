#include "peers/publisher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "digest/keyed_hash.hpp"
#include "digest/squid_digest.hpp"
#include "peers/site.hpp"

namespace peers {
namespace {

constexpr std::uint32_t kLiveHashes = 8;
// The fill of the Squid form at which we rebuild; digest::kMaxSquidFillPercent is where Squids
// refuse it. Honest keys reach 0.55 at 4 bits per entry. Keys chosen never to share a bit, or to
// make counters stick, can exceed that.
constexpr double kFullest = 0.60;

// The most entries that both forms can express (digest::kMaxBits; Squid's signed 32-bit numbers).
std::uint64_t max_capacity(const config::DigestSettings& settings) {
  // So that capacity times bits, plus 7, is below 2^31 - 1 (squid_mask_bytes()).
  const std::uint64_t squid = ((std::uint64_t{1} << 31) - 9) / settings.squid.bits_per_entry;
  return std::min(squid, digest::kMaxBits / settings.bits_per_entry);
}

digest::Shape live_shape(const config::DigestSettings& settings, std::uint64_t capacity,
                         const digest::RandomWords& random) {
  return {.bits = capacity * settings.bits_per_entry,
          .hashes = kLiveHashes,
          .derivation = digest::Derivation::salted,
          .layout = digest::Layout::plain,
          .salt = digest::random_salt(random)};
}

std::uint8_t squid_bits(const config::DigestSettings& settings) {
  return static_cast<std::uint8_t>(settings.squid.bits_per_entry);
}

digest::Shape squid_shape(const config::DigestSettings& settings, std::uint64_t capacity) {
  const auto mask =
      digest::squid_mask_bytes(static_cast<std::uint32_t>(capacity), squid_bits(settings));
  return {
      .bits = std::uint64_t{8} * *mask, .hashes = 4, .derivation = digest::Derivation::squid_words};
}

std::uint64_t capacity_for(const config::DigestSettings& settings, std::uint64_t entries) {
  return std::min(std::max(Publisher::kMinCapacity, 2 * entries), max_capacity(settings));
}

// Neighbours poll at about the same pace, so they ask for few different bases.
constexpr std::size_t kMaxMade = 16;

// Kept however small the filter is: 64 KiB, and a delta with this many positions may still be
// shorter than a snapshot.
constexpr std::size_t kMinFlips = std::size_t{1} << 14;

// The positions that occur an odd number of times, rising. Bits flipped an even number of times are
// unchanged.
std::vector<std::uint32_t> odd_ones(std::vector<std::uint32_t> turned) {
  std::sort(turned.begin(), turned.end());
  auto kept = turned.begin();
  for (auto first = turned.begin(); first != turned.end();) {
    const auto next =
        std::find_if(first, turned.end(), [first](auto flip) { return flip != *first; });
    if ((next - first) % 2 == 1) *kept++ = *first;
    first = next;
  }
  turned.erase(kept, turned.end());
  return turned;
}

std::vector<std::uint32_t> merge(
    const std::vector<std::shared_ptr<const std::vector<std::uint32_t>>>& steps) {
  std::vector<std::uint32_t> all;
  for (const auto& step : steps) all.insert(all.end(), step->begin(), step->end());
  return odd_ones(std::move(all));
}

bool same_generation(const digest::NativeHead& a, const digest::NativeHead& b) {
  return a.epoch == b.epoch && a.generation == b.generation;
}

}  // namespace

Publisher::Filters::Filters(const config::DigestSettings& settings, std::uint64_t entries,
                            const digest::RandomWords& random)
    : epoch(random()),
      capacity(capacity_for(settings, entries)),
      live(*digest::CountingFilter::create(live_shape(settings, capacity, random))),
      squid(*digest::CountingFilter::create(squid_shape(settings, capacity))) {}

bool Publisher::Filters::fit(const config::DigestSettings& settings) const {
  // Squid's form has no salt, so that chosen keys can fill it. A rebuild frees counters that are
  // stuck.
  if (squid.projection().fill_ratio() > kFullest) return false;
  const std::uint64_t entries = live.entries();
  if (capacity == capacity_for(settings, entries)) return true;
  return 5 * entries <= 4 * capacity && capacity <= 3 * entries;
}

// Some at a time, because the keys of all would take as much memory again.
void Publisher::Filters::add(std::span<const digest::Claim> claims) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 16;
  std::vector<digest::Key> all;
  std::vector<digest::Key> for_squids;
  while (!claims.empty()) {
    const auto next = claims.first(std::min(claims.size(), kAtOnce));
    claims = claims.subspan(next.size());
    all.clear();
    for_squids.clear();
    for (const digest::Claim& claim : next) {
      all.push_back(claim.in_digest());
      if (claim.is_for_all()) for_squids.push_back(claim.key);
    }
    live.add_all(all);
    squid.add_all(for_squids);
  }
}

Publisher::Publisher(Holdings& holdings, const config::DigestSettings& settings, WallTime now,
                     digest::RandomWords random)
    : holdings_(holdings),
      settings_(settings),
      random_(std::move(random)),
      filters_(settings, 0, random_),
      published_(std::make_shared<Published>(Published{.squid = std::make_shared<SquidForm>()})) {
  begin_epoch(now);
}

void Publisher::begin_epoch(WallTime now) {
  rebuild(now);
  publish(describe(filters_.live, now), close_squid(current()->squid, now), now);
}

bool Publisher::tick(WallTime now) {
  // What has not changed is published again as it is, with its time and its entity tag.
  const auto last = current();
  const bool changed = apply_changes(now);
  const bool squid = squid_due(*last->squid, now);
  if (!changed && !squid) return false;
  publish(changed ? describe(filters_.live, now) : last->live,
          squid ? close_squid(last->squid, now) : last->squid, now);
  return changed;
}

void Publisher::follow(const config::DigestSettings& settings, WallTime now) {
  const bool same = settings.bits_per_entry == settings_.bits_per_entry &&
                    settings.squid.bits_per_entry == settings_.squid.bits_per_entry;
  settings_ = settings;
  // Bits of another size are other bits, so no delta leads there.
  if (!same) begin_epoch(now);
}

std::shared_ptr<const Published> Publisher::current() const {
  const threads::MutexLock lock(mutex_);
  return published_;
}

std::string Publisher::epochs() const {
  const auto current = epoch_.load(std::memory_order_acquire);
  return epochs_text(current, earlier_epoch_.load(std::memory_order_relaxed));
}

void Publisher::publish(FilterStats live, std::shared_ptr<const SquidForm> squid, WallTime now) {
  auto shared = std::make_shared<const Published>(
      Published{filters_.epoch, std::move(live), std::move(squid), settings_.squid.period});
  const Closing closing{{filters_.epoch, filters_.generation}, now};
  const auto before = epoch();
  // The earlier epoch is stored first, so that a thread which reads the new one reads it, too.
  if (before != filters_.epoch) earlier_epoch_.store(before, std::memory_order_relaxed);
  epoch_.store(filters_.epoch, std::memory_order_release);
  const threads::MutexLock lock(mutex_);
  // Swapped, so that the old one is destroyed after the lock is released.
  published_.swap(shared);
  if (!closings_.empty() && closings_.back().of == closing.of) return;
  closings_.push_back(closing);
  if (closings_.size() > kKnownClosings) closings_.pop_front();
}

std::optional<WallTime> Publisher::closed_at(std::string_view etag) const {
  const auto of = parse_native_etag(etag);
  const threads::MutexLock lock(mutex_);
  const auto found = std::find_if(closings_.rbegin(), closings_.rend(),
                                  [&](const Closing& closing) { return closing.of == of; });
  return found == closings_.rend() ? std::nullopt : std::optional(found->at);
}

// Returns true if there is something new to publish.
bool Publisher::apply_changes(WallTime now) {
  changes_.clear();
  if (holdings_.collect(now, changes_) == Collected::overflowed) {
    rebuild(now);
    return true;
  }
  for (const KeyChange& change : changes_) apply(change);
  if (changes_.empty()) return false;
  if (!filters_.fit(settings_)) {
    rebuild(now);
  } else {
    ++filters_.generation;
    generations_.close(head(), std::exchange(filters_.turned, {}));
  }
  return true;
}

void Publisher::apply(const KeyChange& change) {
  const bool for_all = change.claim().is_for_all();
  if (change.what == KeyChange::What::added) {
    filters_.live.add(change.claim().in_digest(), &filters_.turned);
    if (for_all) filters_.squid.add(change.key);
  } else {
    filters_.live.remove(change.claim().in_digest(), &filters_.turned);
    if (for_all) filters_.squid.remove(change.key);
  }
}

void Publisher::rebuild(WallTime now) {
  std::vector<digest::Claim> claims;
  holdings_.list(now, claims);
  filters_ = Filters(settings_, claims.size(), random_);
  filters_.add(claims);
  const auto bits = filters_.live.projection().bytes();
  generations_.begin(head(), {bits.begin(), bits.end()});
}

digest::NativeHead Publisher::head() const {
  return {.shape = filters_.live.shape(),
          .epoch = filters_.epoch,
          .generation = filters_.generation,
          .capacity = filters_.capacity,
          .entries = filters_.live.entries(),
          .bits_set = filters_.live.bits_set()};
}

// Ticks are not exact to the millisecond, so a form is due half a period early.
bool Publisher::squid_due(const SquidForm& last, WallTime now) const {
  const bool same =
      last.stats.generation == filters_.generation && last.stats.epoch == to_text(filters_.epoch);
  return !same && now + settings_.period / 2 >= squid_closed_ + settings_.squid.period;
}

std::shared_ptr<const SquidForm> Publisher::close_squid(std::shared_ptr<const SquidForm> last,
                                                        WallTime now) {
  squid_closed_ = now;
  auto body = digest::encode({.capacity = static_cast<std::uint32_t>(filters_.capacity),
                              .count = static_cast<std::uint32_t>(filters_.squid.entries()),
                              .bits_per_entry = squid_bits(settings_),
                              .filter = filters_.squid.snapshot()});
  if (!body) return last;  // more entries than Squid's form can express
  auto form = std::make_shared<SquidForm>();
  // The same bytes keep their entity tag, so that a conditional request is answered by 304.
  const bool same = last->body == *body;
  form->body = std::move(*body);
  form->etag = same ? last->etag : native_etag(filters_.epoch, filters_.generation);
  form->last_modified = same ? last->last_modified : now;
  form->stats = describe(filters_.squid, now);
  form->stats.bytes = form->body.size();
  return form;
}

FilterStats Publisher::describe(const digest::CountingFilter& filter, WallTime now) const {
  const digest::BloomFilter& bits = filter.projection();
  return {.epoch = to_text(filters_.epoch),
          .generation = filters_.generation,
          .entries = filter.entries(),
          .capacity = filters_.capacity,
          .bits = bits.shape().bits,
          .bits_per_entry =
              static_cast<double>(bits.shape().bits) / static_cast<double>(filters_.capacity),
          .hashes = bits.shape().hashes,
          .bits_set = bits.bits_set(),
          .fill_ratio = bits.fill_ratio(),
          .false_positive_rate = bits.false_positive_rate(),
          .built_at = now,
          .bytes = bits.bytes().size()};
}

std::string native_etag(std::uint64_t epoch, std::uint64_t generation) {
  return fmt::format("\"{:016x}-{}\"", epoch, generation);
}

void Generations::begin(digest::NativeHead next, std::vector<std::uint8_t> bits) {
  next.checksum = digest::checksum_of(bits);
  std::deque<Flips> dropped;  // destroyed after the locks are released
  Made unmade;
  const threads::MutexLock bits_lock(bits_mutex_);
  const threads::MutexLock lock(mutex_);
  bits_.swap(bits);
  newest_ = next;
  dropped.swap(steps_);
  unmade.swap(made_);
  flips_kept_ = 0;
}

void Generations::close(digest::NativeHead next, std::vector<std::uint32_t> turned) {
  auto flips = std::make_shared<const std::vector<std::uint32_t>>(odd_ones(std::move(turned)));
  Made unmade;
  const threads::MutexLock bits_lock(bits_mutex_);
  std::uint64_t checksum = 0;
  {
    const threads::MutexLock lock(mutex_);
    // The checksum stays right after the lock, since only this thread changes it.
    checksum = newest_.checksum;
  }
  next.checksum = digest::flip_bits(bits_, *flips, checksum);  // takes long: readers need mutex_
  const threads::MutexLock lock(mutex_);
  newest_ = next;
  flips_kept_ += flips->size();
  steps_.push_back(std::move(flips));
  drop_old_steps();
  unmade.swap(made_);
}

void Generations::drop_old_steps() {
  const std::size_t most = std::clamp(bits_.size() / sizeof(std::uint32_t), kMinFlips, kMaxFlips);
  while (steps_.size() > kMaxSteps || (flips_kept_ > most && !steps_.empty())) {
    flips_kept_ -= steps_.front()->size();
    steps_.pop_front();
  }
}

std::shared_ptr<const NativeForm> Generations::since(std::uint64_t epoch,
                                                     std::uint64_t since) const {
  digest::NativeHead newest;
  std::vector<Flips> steps;
  {
    const threads::MutexLock lock(mutex_);
    steps = steps_from(epoch, since);
    const bool held = epoch == newest_.epoch && since == newest_.generation;
    const std::uint64_t base = held || !steps.empty() ? since : 0;
    if (auto form = made(base)) return form;
    newest = newest_;
    if (base == 0) since = 0;
  }
  if (since == 0) return snapshot();
  auto delta = digest::encode_delta(newest, since, merge(steps));
  if (delta.size() >= digest::snapshot_bytes(newest)) return snapshot();
  return keep(newest, since, std::move(delta));
}

// The changes from generation `since` to the newest; empty if they are not known.
std::vector<Generations::Flips> Generations::steps_from(std::uint64_t epoch,
                                                        std::uint64_t since) const {
  if (epoch != newest_.epoch || since == 0 || since > newest_.generation) return {};
  const std::uint64_t count = newest_.generation - since;
  if (count > steps_.size()) return {};
  return {steps_.end() - static_cast<std::ptrdiff_t>(count), steps_.end()};
}

std::shared_ptr<const NativeForm> Generations::made(std::uint64_t base) const {
  const auto found = made_.find(base);
  return found == made_.end() ? nullptr : found->second;
}

std::shared_ptr<const NativeForm> Generations::keep(const digest::NativeHead& head,
                                                    std::uint64_t base,
                                                    std::vector<std::uint8_t> body) const {
  auto form = std::make_shared<const NativeForm>(
      NativeForm{std::move(body), native_etag(head.epoch, head.generation)});
  const threads::MutexLock lock(mutex_);
  // Made without the lock: several threads may make the same message, and the first is kept.
  if (same_generation(newest_, head) && made_.size() < kMaxMade) made_.emplace(base, form);
  return form;
}

// Made once, however many callers ask for it at the same time. Callers that need only a delta do
// not wait.
std::shared_ptr<const NativeForm> Generations::snapshot() const {
  const threads::MutexLock bits_lock(bits_mutex_);
  digest::NativeHead newest;
  {
    const threads::MutexLock lock(mutex_);
    if (auto form = made(0)) return form;
    newest = newest_;
  }
  return keep(newest, 0, digest::encode_snapshot(newest, bits_));
}

}  // namespace peers
