#include "peers/publisher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "digest/keyed_hash.hpp"
#include "digest/squid_digest.hpp"
#include "peers/identity.hpp"

namespace peers {
namespace {

constexpr std::uint32_t kLiveHashes = 8;
// The fill of the Squid form at which we rebuild; digest::kMaxSquidFillPercent is where Squids
// refuse it. Honest keys reach 0.55 at 4 bits per entry. Keys chosen never to share a bit, or to
// make counters stick, can exceed that.
constexpr double kFullest = 0.60;

// The most entries that both forms can express (digest::kMaxBits; Squid's signed 32-bit numbers).
std::uint64_t max_capacity(const config::DigestSettings& settings) {
  const std::uint64_t squid = ((std::uint64_t{1} << 31) - 9) / settings.squid_bits_per_entry;
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
  return static_cast<std::uint8_t>(settings.squid_bits_per_entry);
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

}  // namespace

Publisher::Filters::Filters(const config::DigestSettings& settings, std::uint64_t entries,
                            const digest::RandomWords& random)
    : epoch(random()),
      capacity(capacity_for(settings, entries)),
      live(*digest::CountingFilter::create(live_shape(settings, capacity, random))),
      squid(*digest::CountingFilter::create(squid_shape(settings, capacity))) {}

bool Publisher::Filters::fit(const config::DigestSettings& settings) const {
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
      filters_(settings, 0, random_) {
  rebuild(now);
  publish({.epoch = filters_.epoch,
           .live = describe(filters_.live, now),
           .squid = close_squid(std::make_shared<const SquidForm>(), now),
           .expires_after = settings_.squid_period},
          now);
}

bool Publisher::tick(WallTime now) {
  const auto last = current();
  const bool changed = follow_holdings(now);
  const bool squid = squid_due(*last->squid, now);
  if (!changed && !squid) return false;
  publish({.epoch = filters_.epoch,
           .live = changed ? describe(filters_.live, now) : last->live,
           .squid = squid ? close_squid(last->squid, now) : last->squid,
           .expires_after = settings_.squid_period},
          now);
  return changed;
}

void Publisher::follow(const config::DigestSettings& settings, WallTime now) {
  const bool same = settings.bits_per_entry == settings_.bits_per_entry &&
                    settings.squid_bits_per_entry == settings_.squid_bits_per_entry;
  settings_ = settings;
  if (same) return;
  rebuild(now);
  publish({.epoch = filters_.epoch,
           .live = describe(filters_.live, now),
           .squid = close_squid(current()->squid, now),
           .expires_after = settings_.squid_period},
          now);
}

std::shared_ptr<const Published> Publisher::current() const {
  const threads::MutexLock lock(mutex_);
  return published_;
}

std::string Publisher::epochs() const {
  const auto current = epoch_.load(std::memory_order_acquire);
  return epochs_text(current, earlier_epoch_.load(std::memory_order_relaxed));
}

void Publisher::publish(Published next, WallTime now) {
  auto shared = std::make_shared<const Published>(std::move(next));
  const Closing closing{{filters_.epoch, generation_}, now};
  const auto before = epoch();
  // The earlier epoch is stored first, so that a thread which reads the new one reads it, too.
  if (before != filters_.epoch) earlier_epoch_.store(before, std::memory_order_relaxed);
  epoch_.store(filters_.epoch, std::memory_order_release);
  const threads::MutexLock lock(mutex_);
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
bool Publisher::follow_holdings(WallTime now) {
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
    ++generation_;
    generations_.close(head(), std::exchange(turned_, {}));
  }
  return true;
}

void Publisher::apply(const KeyChange& change) {
  const bool for_all = change.claim().is_for_all();
  if (change.what == KeyChange::What::added) {
    filters_.live.add(change.claim().in_digest(), &turned_);
    if (for_all) filters_.squid.add(change.key);
  } else {
    filters_.live.remove(change.claim().in_digest(), &turned_);
    if (for_all) filters_.squid.remove(change.key);
  }
}

void Publisher::rebuild(WallTime now) {
  std::vector<digest::Claim> claims;
  holdings_.list(now, claims);
  filters_ = Filters(settings_, claims.size(), random_);
  filters_.add(claims);
  generation_ = 1;
  turned_.clear();
  const auto bits = filters_.live.projection().bytes();
  generations_.begin(head(), {bits.begin(), bits.end()});
}

digest::NativeHead Publisher::head() const {
  return {.shape = filters_.live.shape(),
          .epoch = filters_.epoch,
          .generation = generation_,
          .capacity = filters_.capacity,
          .entries = filters_.live.entries(),
          .bits_set = filters_.live.bits_set()};
}

// Ticks are not exact to the millisecond, so a form is due half a period early.
bool Publisher::squid_due(const SquidForm& last, WallTime now) const {
  const bool same =
      last.stats.generation == generation_ && last.stats.epoch == to_text(filters_.epoch);
  return !same && now + settings_.period / 2 >= squid_closed_ + settings_.squid_period;
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
  const bool same = last->body == *body;
  form->body = std::move(*body);
  form->etag = same ? last->etag : native_etag(filters_.epoch, generation_);
  form->last_modified = same ? last->last_modified : now;
  form->stats = describe(filters_.squid, now);
  form->stats.bytes = form->body.size();
  return form;
}

FilterStats Publisher::describe(const digest::CountingFilter& filter, WallTime now) const {
  const digest::BloomFilter& bits = filter.projection();
  return {.epoch = to_text(filters_.epoch),
          .generation = generation_,
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

}  // namespace peers
