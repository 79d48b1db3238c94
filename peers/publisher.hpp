// Our digest: the live filter over what the cache holds, as Hearsays and as Squids read it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "digest/counting_filter.hpp"
#include "peers/generations.hpp"
#include "peers/holdings.hpp"

namespace peers {

// A filter as monitoring shows it.
struct FilterStats {
  std::string epoch;             // 16 hex digits; another after each rebuild
  std::uint64_t generation = 0;  // published versions within the epoch, from 1
  std::uint64_t entries = 0;
  std::uint64_t capacity = 0;  // what it is sized for: at least 1.25 times the entries
  std::uint64_t bits = 0;
  double bits_per_entry = 0;  // bits over capacity
  std::uint32_t hashes = 0;
  std::uint64_t bits_set = 0;
  double fill_ratio = 0;
  double false_positive_rate = 0;  // from the bits set
  WallTime built_at{};             // when this generation was closed
  std::uint64_t bytes = 0;         // of its bits; of the Squid form, as sent
};

// The body of /squid-internal-periodic/store_digest. The first digest::kSquidControlBytes of it are
// the control block, after which the sender pauses (Squid bug 5510).
struct SquidForm {
  std::vector<std::uint8_t> body;
  std::string etag;          // strong, with its quotes
  WallTime last_modified{};  // when the bytes last changed
  FilterStats stats;         // epoch and generation of the live filter that it was closed from
};

// Immutable; good for as long as it is held.
struct Published {
  FilterStats live;
  std::shared_ptr<const SquidForm> squid;
  std::chrono::milliseconds expires_after{};  // of the Squid form, from each reply on
};

// Keeps two counting filters over the same keys and publishes what they say. The live filter: as
// many bits per entry as set, 8 hashes, positions that depend on a random salt for each epoch. The
// Squid form: as many as set, Squid's four words. Both are sized together: when the entries pass
// 4/5 of the capacity or fall under a third of it, both are rebuilt for twice the entries (at least
// kMinCapacity) and a new epoch begins; also when the Squid form gets near the 65 % of bits at
// which Squids refuse it, which takes keys chosen for that. The salt is told to who reads native()
// and to nobody else.
class Publisher {
 public:
  static constexpr std::uint64_t kMinCapacity = 1024;

  // Lists the holdings once: what current() gives is valid from the first moment, also when empty.
  // The holdings must live as long as the publisher.
  Publisher(Holdings& holdings, const config::DigestSettings& settings, WallTime now);

  // One thread only; every settings.period. Applies what changed, and closes a generation if
  // anything did; the Squid form follows at most every settings.squid_period.
  void tick(WallTime now);

  // Any thread. Never null.
  std::shared_ptr<const Published> current() const;

  // The newest generation as a message for who holds generation `since` of `epoch`, or nothing that
  // we know (native_digest.hpp). Any thread, never null, never waits
  // for a generation to be closed.
  std::shared_ptr<const NativeForm> native(std::uint64_t epoch, std::uint64_t since) const {
    return generations_.since(epoch, since);
  }

 private:
  struct Filters {
    std::uint64_t epoch;
    std::uint64_t capacity;
    digest::CountingFilter live;
    digest::CountingFilter squid;

    Filters(const config::DigestSettings& settings, std::uint64_t entries);
    bool fit(const config::DigestSettings& settings) const;
  };

  bool follow(WallTime now);
  void apply(const KeyChange& change);
  digest::NativeHead head() const;
  void rebuild(WallTime now);
  bool squid_due(const SquidForm& last, WallTime now) const;
  std::shared_ptr<const SquidForm> close_squid(std::shared_ptr<const SquidForm> last, WallTime now);
  FilterStats describe(const digest::CountingFilter& filter, WallTime now) const;
  void publish(Published next);

  Holdings& holdings_;
  const config::DigestSettings settings_;
  Filters filters_;
  Generations generations_;
  std::uint64_t generation_ = 1;
  WallTime squid_closed_{};
  std::vector<KeyChange> changes_;
  digest::CountingFilter::Turned turned_;  // of the live filter, since the last generation

  mutable std::mutex mutex_;  // of published_ alone
  std::shared_ptr<const Published> published_;
};

}  // namespace peers
