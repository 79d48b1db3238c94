// Our digest: filters over the keys that the cache holds, in the forms that Hearsays and Squids
// read.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "digest/counting_filter.hpp"
#include "digest/native_digest.hpp"
#include "digest/random_words.hpp"
#include "digest/rule.hpp"
#include "peers/native_target.hpp"
#include "peers/site.hpp"
#include "peers/threads/mutex.hpp"

namespace peers {

// Wall time that never steps back.
using WallTime = std::chrono::system_clock::time_point;

using digest::Collected;
using digest::KeyChange;

// The claims that this cache may make; the store implements it. A key is held while a plain GET
// with only-if-cached would be answered by 200, now and for the next 5 s; it is held by a rule
// while it would be if the question named this rule (digest/rule.hpp). A change is a claim that
// begins (added) or ends (removed), so the two alternate per claim. Called on the control thread
// only.
class Holdings {
 public:
  virtual ~Holdings() = default;

  // Appends the changes since the last collect() or list(), in order per claim. A claim
  // that has expired by `now` is among the changes.
  virtual Collected collect(WallTime now, std::vector<KeyChange>& changes) = 0;

  // Appends every claim once, and discards the changes recorded so far: the next collect()
  // returns only changes after this list.
  virtual void list(WallTime now, std::vector<digest::Claim>& claims) = 0;
};

// The body of /digest/native and its entity tag. Immutable. The body contains the
// salt, so only neighbours get it.
struct NativeForm {
  std::vector<std::uint8_t> body;
  std::string etag;  // strong, with its quotes; the same for all messages to one generation
};

// The recent generations of our digest, as messages for neighbours that hold one of them.
//
// Keeps one copy of the filter and applies the changes to it, so the cost of closing a generation
// grows with its changes. The changes between generations are kept while they take no more memory
// than the filter itself (beyond that a snapshot is shorter), for at most kMaxSteps generations and
// kMaxFlips positions (an I/O thread has to sort them).
class Generations {
 public:
  static constexpr std::size_t kMaxSteps = 1024;
  static constexpr std::size_t kMaxFlips = std::size_t{1} << 17;

  // begin() and close() are for one thread. They ignore the checksum in `next`.
  //
  // Starts an epoch with its first generation and all bits of the filter. Drops earlier
  // generations.
  void begin(digest::NativeHead next, std::vector<std::uint8_t> bits);
  // Adds a generation to the epoch, with the same shape. `turned` holds the positions of bits that
  // changed since the last generation, in any order, each as often as its bit changed.
  void close(digest::NativeHead next, std::vector<std::uint32_t> turned);

  // Returns a message that leads from generation `since` of `epoch` to the newest: a delta if that
  // generation is known and the delta is shorter than digest::snapshot_bytes(), else a snapshot. A
  // message once made for a base is kept for other callers. Any thread; waits at most until some
  // changes have been recorded, or for a snapshot that other callers also wait for. begin() must
  // have been called.
  std::shared_ptr<const NativeForm> since(std::uint64_t epoch, std::uint64_t since) const;

 private:
  using Flips = std::shared_ptr<const std::vector<std::uint32_t>>;
  using Made = std::map<std::uint64_t, std::shared_ptr<const NativeForm>>;  // indexed by base

  std::shared_ptr<const NativeForm> made(std::uint64_t base) const REQUIRES(mutex_);
  std::shared_ptr<const NativeForm> keep(const digest::NativeHead& head, std::uint64_t base,
                                         std::vector<std::uint8_t> body) const;
  std::shared_ptr<const NativeForm> snapshot() const;
  std::vector<Flips> steps_from(std::uint64_t epoch, std::uint64_t since) const REQUIRES(mutex_);
  void drop_old_steps() REQUIRES(bits_mutex_, mutex_);

  // Taken before mutex_, and held while a snapshot is made.
  mutable threads::Mutex bits_mutex_{threads::Place::second};
  std::vector<std::uint8_t> bits_ GUARDED_BY(bits_mutex_);  // of newest_

  mutable threads::Mutex mutex_{threads::Place::third};  // held briefly
  digest::NativeHead newest_ GUARDED_BY(mutex_);         // written under both locks
  std::deque<Flips> steps_ GUARDED_BY(mutex_);  // the last one leads to the newest generation
  std::size_t flips_kept_ GUARDED_BY(mutex_) = 0;
  mutable Made made_ GUARDED_BY(mutex_);
};

// The entity tag of a generation: "E-G".
std::string native_etag(std::uint64_t epoch, std::uint64_t generation);

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
  FilterStats live{};
  std::shared_ptr<const SquidForm> squid{};
  std::chrono::milliseconds expires_after{};  // how long a response with the Squid form is fresh
};

// Keeps two counting filters and publishes both. The live filter has settings.bits_per_entry bits
// per entry, 8 hashes, and positions that depend on a salt drawn for each epoch. The Squid form has
// settings.squid.bits_per_entry and Squid's four words. The live filter has all claims. The Squid
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
            digest::RandomWords random);

  // Applies the changes of the holdings, and closes a generation if there are any. Returns whether
  // it did. Renews the Squid form at most every settings.squid.period. One thread only; call it
  // every settings.period.
  bool tick(WallTime now);

  // Adapts to other sizes, which begin a new epoch, and to another schedule. For the thread of
  // tick(), or while there is none.
  void follow(const config::DigestSettings& settings, WallTime now);

  // The digest as it was published last, never null. Any thread may call this.
  std::shared_ptr<const Published> current() const;

  // The epoch of the live filter. Any thread may call this; it never waits.
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
  // The two filters of one epoch.
  struct Filters {
    std::uint64_t epoch;
    std::uint64_t capacity;
    digest::CountingFilter live;
    digest::CountingFilter squid;
    std::uint64_t generation = 1;
    digest::CountingFilter::Turned turned = {};  // of the live filter, since the last generation

    Filters(const config::DigestSettings& settings, std::uint64_t entries,
            const digest::RandomWords& random);
    bool fit(const config::DigestSettings& settings) const;
    void add(std::span<const digest::Claim> claims);
  };

  struct Closing {
    NativeBase of;
    WallTime at;
  };

  bool apply_changes(WallTime now);
  void apply(const KeyChange& change);
  digest::NativeHead head() const;
  void rebuild(WallTime now);
  void begin_epoch(WallTime now);
  bool squid_due(const SquidForm& last, WallTime now) const;
  std::shared_ptr<const SquidForm> close_squid(std::shared_ptr<const SquidForm> last, WallTime now);
  FilterStats describe(const digest::CountingFilter& filter, WallTime now) const;
  void publish(FilterStats live, std::shared_ptr<const SquidForm> squid, WallTime now);

  Holdings& holdings_;
  config::DigestSettings settings_;
  const digest::RandomWords random_;
  Filters filters_;
  Generations generations_;
  WallTime squid_closed_{};
  std::vector<KeyChange> changes_;

  std::atomic<Epoch> epoch_{0};          // as in published_
  std::atomic<Epoch> earlier_epoch_{0};  // the one before; 0: there was none
  mutable threads::Mutex mutex_;
  std::shared_ptr<const Published> published_ GUARDED_BY(mutex_);
  std::deque<Closing> closings_ GUARDED_BY(mutex_);  // the latest last
};

}  // namespace peers
