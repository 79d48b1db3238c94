// A neighbour: who it is, what its last polls brought, and the books on it.
#pragma once

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

namespace peers {

enum class PeerKind : std::uint8_t { unknown, hearsay, squid };

enum class PeerState : std::uint8_t {
  off,      // the settings say that its digest is not to be fetched
  waiting,  // no digest yet, and nothing wrong so far
  failing,  // no digest yet, and the last poll failed
  usable,   // its claims count
  stale,    // its digest is too old: its claims do not count until a poll succeeds
  resting,  // it failed or lied when asked: its claims do not count for a while
};

// As in /digest.
std::string_view to_string(PeerKind kind);
std::string_view to_string(PeerState state);

// What the fields Server and Via of a peer's answer say about it; `known` if they say nothing.
// Hearsay and Squid name themselves in Server ("Hearsay/0.1.0", "squid/5.7", "squid"); a Squid
// that hides there is still in the comment of its Via ("1.1 a.test (squid/5.7)").
PeerKind kind_of(std::string_view server, std::string_view via, PeerKind known);

// Fixed for the peer's life, but for the books. Shared by all threads.
struct Peer {
  const std::size_t id;  // its place in the settings
  const std::string name;
  const std::string url;
  const std::string host;  // IPv6 without brackets
  const std::uint16_t port;
  const config::PeerDigest digest;
  Accuracy accuracy;

  Peer(std::size_t place, const config::PeerSettings& settings);
};

// Stays good while somebody holds it, also when the peer is one no longer.
using PeerRef = std::shared_ptr<Peer>;

// What a peer says it holds, in whichever form it said so.
struct Claims {
  std::shared_ptr<const digest::BloomFilter> filter;
  std::uint64_t entries = 0;  // as the peer says
  // What the filter is part of, if it came in our own form: a delta may change it.
  std::shared_ptr<const digest::NativeDigest> native;

  Claims() = default;
  explicit Claims(digest::NativeDigest digest);
  explicit Claims(digest::SquidDigest digest);
};

// What polling a peer has brought so far. A new one replaces it after each poll.
struct PollReport {
  PeerKind kind = PeerKind::unknown;
  Claims claims;                            // of the last good digest, till it is too old
  std::string etag;                         // of the digest; empty if it may not be a condition
  std::optional<std::uint64_t> generation;  // of the digest, if the peer tells
  std::optional<SteadyTime> confirmed;      // when a poll last found the digest current
  SteadyTime usable_until{};                // it is too old from then on
  std::uint64_t polls = 0;
  std::uint64_t polls_failed = 0;
  std::uint32_t failures_in_a_row = 0;
  std::uint64_t resyncs = 0;         // deltas that did not fit what we held
  std::uint64_t bytes_received = 0;  // bodies of its answers
  std::string last_error;            // why the last poll brought nothing; empty if it was good
  // Where its host led to when it was last reached. Empty until then.
  std::optional<config::Address> address;

  bool counts(SteadyTime now) const { return claims.filter && now < usable_until; }
};

PeerState state_of(const Peer& peer, const PollReport& report, SteadyTime now);

}  // namespace peers
