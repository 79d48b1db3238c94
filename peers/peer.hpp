// A neighbour: its name and address, the results of polling it, and the record of its claims.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/networks.hpp"
#include "config/settings.hpp"
#include "digest/key.hpp"
#include "digest/little_endian.hpp"
#include "digest/native_digest.hpp"
#include "digest/squid_digest.hpp"
#include "peers/accuracy.hpp"
#include "peers/site.hpp"
#include "peers/threads/mutex.hpp"

namespace peers {

enum class PeerKind : std::uint8_t { unknown, hearsay, squid };

enum class PeerState : std::uint8_t {
  off,      // the settings turn its digest off
  waiting,  // no digest yet, and no failure so far
  failing,  // no digest yet, and the last poll failed
  usable,   // its claims count
  stale,    // its digest is too old: its claims do not count until a poll succeeds
  resting,  // it failed or lied when asked: its claims do not count for a while
  trying,   // it failed or was slow: one request at a time tries it
  down,     // its last kDownAfter polls failed: likewise, as long as its digest is not too old
};

// A peer is down after so many failed polls in a row: one may be an accident.
inline constexpr std::uint32_t kDownAfter = 2;

// The names that /digest uses.
std::string_view to_string(PeerKind kind);
std::string_view to_string(PeerState state);

// Why a peer in this state is not asked like the others; none: it is. `last`: why it last rested.
Reason reason_of(PeerState state, Reason last);

// The kind of a peer by the fields Server and Via of its answer; `known` if they do not tell.
// Hearsay and Squid name themselves in Server ("Hearsay/0.1.0", "squid/5.7", "squid"). A Squid that
// leaves Server out still names itself in the comment of its Via ("1.1 a.test (squid/5.7)").
PeerKind kind_of(std::string_view server, std::string_view via, PeerKind known);

// The keys that a peer has denied lately though its digest claims them. A digest that was wrong
// about a key stays wrong until it changes. The table is bounded: a later denial may take the place
// of an earlier one. Any thread may call anything: there are only atomics.
class Denials {
 public:
  static constexpr std::size_t kMost = 1024;

  // Records that the peer has denied the key. `digest`: the number of the digest that claimed it.
  void record(const digest::Key& key, std::uint64_t digest) {
    slot(key).store(mark(key, digest), std::memory_order_relaxed);
  }
  // Whether the peer has denied the key since it published that digest.
  [[nodiscard]] bool has(const digest::Key& key, std::uint64_t digest) const {
    return slots_[place(key)].load(std::memory_order_relaxed) == mark(key, digest);
  }

 private:
  static std::size_t place(const digest::Key& key) {
    return digest::load64(key.bytes.data()) % kMost;
  }
  // Never 0, which is the mark of an empty slot.
  static std::uint64_t mark(const digest::Key& key, std::uint64_t digest) {
    return (digest::load64(key.bytes.data() + 8) + digest * 0x9E3779B97F4A7C15U) | 1U;
  }
  std::atomic<std::uint64_t>& slot(const digest::Key& key) { return slots_[place(key)]; }

  std::array<std::atomic<std::uint64_t>, kMost> slots_{};
};

// The origins that may not testify against one neighbour, and the checks of this neighbour that
// have found a contradiction and go on. An origin may consist of servers that disagree, and a load
// balancer may lead us to one of them and the neighbour to another. So an origin that was seen to
// disagree with itself is no witness for a while. Memory and the doubts under way are bounded. Any
// thread.
class Suspicion {
 public:
  static constexpr std::chrono::hours kWhile{1};
  // How many origins that disagree with themselves are remembered.
  static constexpr std::size_t kMostOrigins = 64;
  // How many doubts are followed up at the same time. Each one keeps its response in memory.
  static constexpr std::size_t kMostDoubts = 4;

  // A check whose first answer contradicts the neighbour, until its last question is answered.
  class Doubt {
   public:
    Doubt(Suspicion& suspicion, std::string_view url);
    ~Doubt();
    Doubt(const Doubt&) = delete;
    Doubt& operator=(const Doubt&) = delete;

    // Whether there is room for it: each origin has one doubt at a time, so that an origin that
    // does not answer leaves room for others.
    [[nodiscard]] bool is_followed_up() const { return followed_up_; }

   private:
    Suspicion& suspicion_;
    const std::string origin_;
    bool followed_up_ = false;
  };

  // Records that the servers of the URL's origin gave different answers, so that the origin is no
  // witness for a while (kWhile).
  void origin_varies(std::string_view url, SteadyTime now) EXCLUDES(mutex_);
  // Whether the URL's origin was not seen to vary within kWhile.
  [[nodiscard]] bool may_testify(std::string_view url, SteadyTime now) const EXCLUDES(mutex_);

 private:
  struct Varying {
    std::string origin;
    SteadyTime seen;
  };

  mutable threads::Mutex mutex_;
  std::deque<Varying> varying_ GUARDED_BY(mutex_);        // in the order in which they were seen
  std::vector<std::string> in_doubt_ GUARDED_BY(mutex_);  // origins
};

// The facts that are learned of a peer while the proxy runs. They outlive a change of the settings.
struct PeerRecord {
  Accuracy accuracy;
  Denials denials;
  Suspicion suspicion;
  // The last answer to a poll was our own: the settings name us among the neighbours.
  std::atomic<bool> ourselves = false;
};

// A neighbour of the settings. Immutable except for its record. Shared by all threads.
struct Peer : config::PeerSettings {
  const std::size_t id;             // its index in the settings
  const bool for_all;               // the settings `for` and `not_for` leave out no host
  const std::string authorization;  // the value of Proxy-Authorization; empty: none
  // 1 to 127, from host and port: names the peer where there is no room for more. The same after a
  // restart. Two peers may share a tag.
  const std::uint8_t tag;
  const std::shared_ptr<PeerRecord> record;
  Accuracy& accuracy;  // of the record, like the next two
  Denials& denials;
  Suspicion& suspicion;

  // `earlier`: the record of the same peer under the settings before.
  Peer(std::size_t index, const config::PeerSettings& settings,
       std::shared_ptr<PeerRecord> earlier = std::make_shared<PeerRecord>());
  Peer(const Peer&) = delete;  // refers to its record
  Peer& operator=(const Peer&) = delete;

  // Whether the settings name this peer: the same name, and the same server.
  bool is_named_by(const config::PeerSettings& settings) const;
  bool is_ourselves() const { return record->ourselves.load(std::memory_order_relaxed); }
};

// The credentials of the setting `login` as a value of Proxy-Authorization (RFC 7617); empty for an
// empty login.
std::string basic_credentials(std::string_view login);

// Stays valid as long as somebody holds it, even when the peer has been removed.
using PeerRef = std::shared_ptr<const Peer>;

// The claims of a peer, whichever form its digest had.
struct Claims {
  std::shared_ptr<const digest::BloomFilter> filter;
  std::uint64_t entries = 0;  // as the peer says
  // The digest that the filter is part of, if it was fetched in the native form: the base of
  // deltas.
  std::shared_ptr<const digest::NativeDigest> native;
  std::uint64_t number = 0;              // counts the peer's digests; set by the directory
  SteadyTime since = SteadyTime::min();  // when the digest was fetched; likewise

  Claims() = default;
  explicit Claims(digest::NativeDigest digest);
  explicit Claims(digest::SquidDigest digest);
};

// How the polls of a peer ended, counted since the first one.
struct PollCounts {
  std::uint64_t made = 0;
  std::uint64_t failed = 0;
  std::uint64_t resyncs = 0;         // deltas that did not fit the digest we held
  std::uint64_t bytes_received = 0;  // response bodies
};

// The results of the polls of a peer so far. Each poll replaces them.
struct PollReport {
  PeerKind kind = PeerKind::unknown;
  Claims claims;     // of the last good digest, until it is too old
  std::string etag;  // of the digest; empty if it may not be used as a condition
  std::optional<std::uint64_t> generation;  // of the digest, if the peer says
  std::optional<SteadyTime> confirmed;      // when a poll last found the digest current
  SteadyTime usable_until{};                // the digest is too old from then on
  PollCounts polls;
  std::uint32_t failures_in_a_row = 0;
  std::uint32_t unresolved = 0;  // polls in a row that ended since the host's name was not resolved
  std::string last_error;        // why the last poll yielded nothing; empty if it succeeded
  // The address at which its host was last reached. Empty until then.
  std::optional<config::Address> address;
  Identity identity;  // as the good polls have shown it

  bool counts(SteadyTime now) const { return claims.filter && now < usable_until; }
  // The last poll failed, and is made again at once.
  void forgive() {
    failures_in_a_row = 0;
    last_error.clear();
  }
};

PeerState state_of(const Peer& peer, const PollReport& report, SteadyTime now);

}  // namespace peers
