// What a peer's answer to a poll means. Pure; every byte of the answer is foreign.
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

// An answer received whole, but not checked. Absent fields are empty.
struct PollResponse {
  long status = 0;
  std::string server;
  std::string via;
  std::string etag;
  std::optional<std::chrono::seconds> expires_in;  // Expires less Date, if both could be read
  std::vector<std::uint8_t> body;                  // of a 200
};

// Why a digest may not stay, or not even come in.
inline constexpr std::string_view kTooLarge =
    "digest over 64 MiB, or over what digest.peer_memory leaves room for";

enum class DigestForm : std::uint8_t { native, squid };

// What was asked.
struct PollRequest {
  DigestForm form = DigestForm::native;
  bool form_is_a_guess = false;        // the peer may turn out to give the other one
  PeerKind known = PeerKind::unknown;  // the peer's kind so far
  bool conditional = false;            // If-None-Match was sent: only then a 304 means anything
  std::shared_ptr<const digest::NativeDigest> held;  // whose changes were asked for, if not all
  std::size_t room = 0;  // bytes of filter that may be kept, at the time of the answer
};

struct PollResult {
  Polled outcome = Polled::failed;
  PeerKind kind = PeerKind::unknown;
  Claims claims;                            // of Polled::fetched
  std::string etag;                         // a Hearsay's, fit to be sent back
  std::optional<std::uint64_t> generation;  // a Hearsay's ETag is "EPOCH-GENERATION"
  std::optional<std::chrono::seconds> expires_in;
  std::string error;  // in our words, never the peer's; empty if all is well
};

PollResult judge(const PollRequest& request, const PollResponse& response);

// A poll that brought no answer at all.
PollResult no_response(const PollRequest& request, std::string error);

// Enters a result into what is known: a good digest replaces the old one, a bad poll leaves the
// old one until it is too old.
void enter(PollReport& report, const PollResult& result, SteadyTime now);

}  // namespace peers
