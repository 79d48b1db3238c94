// What a peer's response to a poll means. Pure; every byte of the response is foreign.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "peers/identity.hpp"
#include "peers/peer.hpp"
#include "peers/poll_plan.hpp"

namespace peers {

// A complete response, not checked yet. Absent fields are empty.
struct PollResponse {
  long status = 0;
  std::string server;
  std::string via;
  std::string epochs;  // kEpochField
  std::string cache_status;
  std::string x_cache;
  std::string x_cache_lookup;
  std::string etag;
  std::optional<std::chrono::seconds> expires_in;  // Expires minus Date, if both could be read
  std::vector<std::uint8_t> body;                  // of a 200
};

// Why a digest cannot be kept, or is not even read to its end.
inline constexpr std::string_view kTooLarge =
    "digest over 64 MiB, or over what digest.peer_memory leaves room for";

// A native digest may take kMostBitsPerEntry bits for each entry that it says it has and for each
// bit that it says is set, and kSmallDigest bits whatever it says. So a peer has to send much in
// order to take much of our memory. Ours take 381 bits per entry at most: 127
// (digest.bits_per_entry) for a capacity of three times the entries. With few entries they take
// 130,048 bits.
inline constexpr std::uint64_t kMostBitsPerEntry = 512;
inline constexpr std::uint64_t kSmallDigest = std::uint64_t{1} << 20;

enum class DigestForm : std::uint8_t { native, squid };

// What the poll asked for.
struct PollRequest {
  DigestForm form = DigestForm::native;
  bool form_is_a_guess = false;        // the peer may turn out to serve the other form
  PeerKind known = PeerKind::unknown;  // the peer's kind, as known so far
  bool conditional = false;            // If-None-Match was sent: a 304 means nothing without it
  std::shared_ptr<const digest::NativeDigest> base;  // base of the delta asked for; null: no delta
  std::size_t room = 0;  // bytes of filter that may be kept when the response arrives
};

struct PollResult {
  Polled outcome = Polled::failed;
  PeerKind kind = PeerKind::unknown;
  Claims claims;                            // of Polled::fetched
  std::string etag;                         // a Hearsay's, if it may be used as a condition
  std::optional<std::uint64_t> generation;  // a Hearsay's ETag is "EPOCH-GENERATION"
  std::optional<std::chrono::seconds> expires_in;
  std::string error;        // in our words, never the peer's; empty if all is well
  bool unresolved = false;  // nobody was asked: the name of the peer's host was not resolved
  Identity identity;        // as this answer alone shows it; counts if the digest is good
};

// The error of a good poll whose answer names no proxy.
inline constexpr std::string_view kNamesNobody =
    "its answers name no proxy, so nothing can prove that they are its own: turn on its Via, or "
    "let "
    "its X-Cache through";

PollResult read_poll(const PollRequest& request, const PollResponse& response);

// The result of a poll without a response.
PollResult no_response(const PollRequest& request, std::string error);

// Drops the digest, whose memory another peer needs. The next poll asks for a whole one.
void give_way(PollReport& report);

// Applies a result to the report: a good digest replaces the old one; after a bad poll the old one
// stays until it is too old.
void enter(PollReport& report, const PollResult& result, SteadyTime now);

}  // namespace peers
