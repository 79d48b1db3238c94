// A neighbour: its name and address, the results of polling it, and the record of its claims.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/networks.hpp"
#include "config/settings.hpp"
#include "digest/native_digest.hpp"
#include "digest/squid_digest.hpp"
#include "peers/accuracy.hpp"
#include "peers/denials.hpp"
#include "peers/identity.hpp"
#include "peers/suspicion.hpp"

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

// As /digest spells them.
std::string_view to_string(PeerKind kind);
std::string_view to_string(PeerState state);

// Why a peer in this state is not asked like the others; none: it is. `last`: why it last rested.
Reason reason_of(PeerState state, Reason last);

// The kind of a peer by the fields Server and Via of its answer; `known` if they do not tell.
// Hearsay and Squid name themselves in Server ("Hearsay/0.1.0", "squid/5.7", "squid"). A Squid that
// leaves Server out still names itself in the comment of its Via ("1.1 a.test (squid/5.7)").
PeerKind kind_of(std::string_view server, std::string_view via, PeerKind known);

// What is learned of a peer while the proxy runs. It outlives a change of the settings.
struct PeerRecord {
  Accuracy accuracy;
  Denials denials;
  Suspicion suspicion;
  // The last answer to a poll was our own: the settings name us among the neighbours.
  std::atomic<bool> ourselves = false;
};

// Immutable except for its record. Shared by all threads.
struct Peer {
  const std::size_t id;  // its index in the settings
  const std::string name;
  const std::string url;
  const std::string host;  // IPv6 without brackets
  const std::uint16_t port;
  const bool tls;
  const config::Role role;
  const config::PeerDigest digest;
  const config::Trust trust;
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
  Peer(std::size_t place, const config::PeerSettings& settings,
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
using PeerRef = std::shared_ptr<Peer>;

// What a peer claims to hold, whichever form its digest had.
struct Claims {
  std::shared_ptr<const digest::BloomFilter> filter;
  std::uint64_t entries = 0;  // as the peer says
  // The digest that the filter is part of, if it was fetched in the native form: the base of
  // deltas.
  std::shared_ptr<const digest::NativeDigest> native;

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

// What the polls of a peer have yielded so far. Each poll replaces it.
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
