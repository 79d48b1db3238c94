// Our digest: filters over the keys that the cache holds, in the forms that Hearsays and Squids
// read.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "digest/counting_filter.hpp"
#include "digest/random_words.hpp"
#include "peers/generations.hpp"
#include "peers/holdings.hpp"
#include "peers/native_target.hpp"
#include "peers/site.hpp"
#include "peers/threads/mutex.hpp"

namespace peers {

// A filter as monitoring shows it.
struct FilterStats {
  std::string epoch;             // 16 hex digits; each rebuild draws another
  std::uint64_t generation = 0;  // number of the published version within the epoch, from 1
  std::uint64_t entries = 0;
  std::uint64_t capacity = 0;  // what the filter is sized for: at least 1.25 times the entries
  std::uint64_t bits = 0;
  double bits_per_entry = 0;  // bits / capacity
  std::uint32_t hashes = 0;
  std::uint64_t bits_set = 0;
  double fill_ratio = 0;
  double false_positive_rate = 0;  // computed from the bits set
  WallTime built_at{};             // when this generation was closed
  std::uint64_t bytes = 0;         // size of its bits; of the Squid form, of the whole body
};

// The body of /squid-internal-periodic/store_digest. The sender pauses after its first
// digest::kSquidControlBytes, the control block (Squid bug 5510).
struct SquidForm {
  std::vector<std::uint8_t> body;
  std::string etag;          // strong, with its quotes
  WallTime last_modified{};  // when the bytes last changed
  FilterStats stats;         // with the epoch and generation of the live filter at that time
};

// Immutable; valid as long as it is held.
struct Published {
  Epoch epoch = 0;  // of the live filter
  FilterStats live;
  std::shared_ptr<const SquidForm> squid;
  std::chrono::milliseconds expires_after{};  // how long a response with the Squid form is fresh
};

// Keeps two counting filters and publishes both. The live filter has settings.bits_per_entry bits
// per entry, 8 hashes, and positions that depend on a salt drawn for each epoch. The Squid form has
// settings.squid_bits_per_entry and Squid's four words. The live filter has all claims. The Squid
// form lacks the claims that depend on a rule, since a Squid has none of our rules.
//
// Both filters have one capacity. When the entries pass 4/5 of it or fall below a third, both are
// rebuilt for twice the entries (at least kMinCapacity) and a new epoch begins. The same happens
// when the Squid form approaches the 65 % of set bits at which Squids refuse it, which only chosen
// keys can cause. Only native() reveals the salt.
class Publisher {
 public:
  static constexpr std::uint64_t kMinCapacity = 1024;

  // Lists the holdings once, so current() is valid from the start, even with an empty cache. The
  // holdings must outlive the publisher.
  // `random` draws the epochs and their salts.
  Publisher(Holdings& holdings, const config::DigestSettings& settings, WallTime now,
            digest::RandomWords random = digest::unpredictable());

  // Applies the changes of the holdings, and closes a generation if there are any. Returns whether
  // it did. Renews the Squid form at most every settings.squid_period. One thread only; call it
  // every settings.period.
  bool tick(WallTime now);

  // Adapts to other sizes, which begin a new epoch, and to another schedule. For the thread of
  // tick(), or while there is none.
  void follow(const config::DigestSettings& settings, WallTime now);

  // Any thread. Never null.
  std::shared_ptr<const Published> current() const;

  // Of the live filter. Any thread, never waits.
  Epoch epoch() const { return epoch_.load(std::memory_order_relaxed); }
  // Whether an answer that names this epoch may be ours: the current one, or the one before. Any
  // thread, never waits.
  bool names_us(Epoch epoch) const {
    return epoch == epoch_.load(std::memory_order_relaxed) ||
           (epoch != 0 && epoch == earlier_epoch_.load(std::memory_order_relaxed));
  }
  // The value of kEpochField in an answer of ours. Any thread, never waits.
  std::string epochs() const;

  // When the native digest with this ETag, which is foreign text, was closed: whatever has left the
  // holdings since is still claimed by it. Nothing if it is none of the last kKnownClosings. Any
  // thread.
  static constexpr std::size_t kKnownClosings = 1024;
  std::optional<WallTime> closed_at(std::string_view etag) const;

  // The newest generation as a message to a reader that holds generation `since` of `epoch`, or one
  // that we do not know (native_digest.hpp). Any thread. Never null; never waits for a generation
  // to be closed.
  std::shared_ptr<const NativeForm> native(std::uint64_t epoch, std::uint64_t since) const {
    return generations_.since(epoch, since);
  }

 private:
  struct Filters {
    std::uint64_t epoch;
    std::uint64_t capacity;
    digest::CountingFilter live;
    digest::CountingFilter squid;

    Filters(const config::DigestSettings& settings, std::uint64_t entries,
            const digest::RandomWords& random);
    bool fit(const config::DigestSettings& settings) const;
    void add(std::span<const digest::Claim> claims);
  };

  struct Closing {
    NativeBase of;
    WallTime at;
  };

  bool follow_holdings(WallTime now);
  void apply(const KeyChange& change);
  digest::NativeHead head() const;
  void rebuild(WallTime now);
  bool squid_due(const SquidForm& last, WallTime now) const;
  std::shared_ptr<const SquidForm> close_squid(std::shared_ptr<const SquidForm> last, WallTime now);
  FilterStats describe(const digest::CountingFilter& filter, WallTime now) const;
  void publish(Published next, WallTime now);

  Holdings& holdings_;
  config::DigestSettings settings_;
  const digest::RandomWords random_;
  Filters filters_;
  Generations generations_;
  std::uint64_t generation_ = 1;
  WallTime squid_closed_{};
  std::vector<KeyChange> changes_;
  digest::CountingFilter::Turned turned_;  // of the live filter, since the last generation

  std::atomic<Epoch> epoch_{0};          // as in published_
  std::atomic<Epoch> earlier_epoch_{0};  // the one before; 0: there was none
  mutable threads::Mutex mutex_;
  std::shared_ptr<const Published> published_ GUARDED_BY(mutex_);
  std::deque<Closing> closings_ GUARDED_BY(mutex_);  // the latest last
};

}  // namespace peers
