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

#include "peers/peer.hpp"
#include "peers/poll_plan.hpp"

namespace peers {

// A complete response, not checked yet. Absent fields are empty.
struct PollResponse {
  long status = 0;
  std::string server;
  std::string via;
  std::string etag;
  std::optional<std::chrono::seconds> expires_in;  // Expires minus Date, if both could be read
  std::vector<std::uint8_t> body;                  // of a 200
};

// Why a digest cannot be kept, or is not even read to its end.
inline constexpr std::string_view kTooLarge =
    "digest over 64 MiB, or over what digest.peer_memory leaves room for";

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
  std::string error;  // in our words, never the peer's; empty if all is well
};

PollResult read_poll(const PollRequest& request, const PollResponse& response);

// The result of a poll without a response.
PollResult no_response(const PollRequest& request, std::string error);

// Applies a result to the report: a good digest replaces the old one; after a bad poll the old one
// stays until it is too old.
void enter(PollReport& report, const PollResult& result, SteadyTime now);

}  // namespace peers
