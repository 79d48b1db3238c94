// Polling a peer's digest: when it is polled next, what a poll may take, what a response means, how
// long the digest stays usable, and how much memory it may have. Pure; every byte of a response is
// foreign.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "peers/peer.hpp"
#include "peers/site.hpp"

namespace peers {

enum class Polled : std::uint8_t {
  fetched,    // a good digest
  unchanged,  // 304: the digest we have is current
  building,   // a Squid's 404: it has no digest yet, or never will (memory only)
  // The peer does not serve the native form: ask for Squid's.
  other_form,
  resync,  // the delta does not fit the digest we hold: ask for a whole one
  failed,
};

struct LastPoll {
  PeerKind kind = PeerKind::unknown;
  Polled outcome = Polled::failed;
  std::uint32_t failures_in_a_row = 0;             // including this one
  std::optional<std::chrono::seconds> expires_in;  // the response's Expires minus its Date
  std::chrono::milliseconds held{0};     // how long the peer held the poll, as it was asked to
  std::chrono::milliseconds overdue{0};  // of a failed poll: how long its answer was waited for,
                                         // beyond the time that the peer was asked to hold it
  bool unresolved = false;               // it failed since the name of the host was not resolved
};

// Returns the earliest time of the next poll. `now`: when the last poll ended. `jitter`, at least 0
// and below 1, only spreads the polls of several peers.
// After a good answer:
//   Hearsay, unknown  `poll` after `now`, or up to a tenth of `poll` earlier. If the peer held the
//                     last poll, `poll` counts from the time when it began to hold it.
//   Squid             when its answer expires, or up to 5 s later; at least 10 s and at most 1 h
//                     from now. 300 s if the answer has no Expires, as Squid does.
//   Squid, building   10 s
// After a failure: 1 s, counted from the time when the answer was due. The pause doubles with each
// failure in a row, and is at most
//   2 s               for a Hearsay, and for a peer whose host name was not resolved, because that
//                     says nothing about the peer
//   30 s              for a peer that never answered
//   5 min             for a Squid
// The pause may be shorter by up to a tenth. If the answer calls for another form or for a whole
// digest, the next poll is due at once. The exchange may begin a poll earlier still, by a twentieth
// of `poll`, to begin several polls together.
SteadyTime next_poll(const LastPoll& last, std::chrono::milliseconds poll, double jitter,
                     SteadyTime now);

// The limits of one poll. A poll that may be held has its hold beside `total` and the silence.
struct PollLimits {
  std::chrono::milliseconds connect{2'000};  // of a peer that is down; else the silence ends before
  std::chrono::milliseconds total{30'000};
  std::chrono::seconds stall{5};  // with under 100 bytes a second, once the answer has begun
  // A peer may be silent for this long: from the request on, and between two parts of its answer. A
  // busy neighbour answers sooner. A peer that is down may be silent for `stall`: its polls then
  // succeed even if the peer always answers late.
  std::chrono::milliseconds silence{1'000};
  // The poll asks a Hearsay to hold it at least this long while the digest does not change: see
  // hold_time(). A change is known as soon as it is published.
  std::chrono::milliseconds hold{1'000};
};

// How soon a peer that stops without a word, or loses its power, is down (kDownAfter), at most:
//   Hearsay  `poll`, hold_time() and twice `silence` later: 4 s if `poll` is 1 s. If its digest was
//            quiet, its poll is held already, for up to twice as long, and it takes 4 s as well
//   Squid    twice `silence` after its next poll is due: 2 s
// A peer that refuses connections is down 1 s after its next poll is due. A peer that lacks
// processor time for less than twice `silence` is not down. For a peer that always answers late,
// `silence` here is what silence_of() says.

// For how long a peer may be silent in its next poll: twice as long as its last good answer took
// (`took`, a hold not counted), but at least `silence`, and at most `stall`.
std::chrono::milliseconds silence_of(const PollLimits& limits, std::uint32_t failures_in_a_row,
                                     std::chrono::milliseconds took);

// For how long a Hearsay is asked to hold a poll: if it is polled seldom, for longer, up to 5 s. If
// it held the last poll to its end (`last_held`), it is quiet, and is asked to hold the next one
// twice as long, up to 5 s.
std::chrono::milliseconds hold_time(const PollLimits& limits, std::chrono::milliseconds poll,
                                    std::chrono::milliseconds last_held);

// How long the peer held a poll: the wait for its answer, as far as it was asked to wait.
std::chrono::milliseconds held_for(std::chrono::milliseconds asked,
                                   std::chrono::milliseconds waited);

// How long a digest is usable after a good poll: 60 s if it is polled each second; 2 h for a Squid,
// an hour more than the longest time between two polls.
std::chrono::seconds usable_for(PeerKind kind);

// What the answers of one peer have cost us, and when it may be polled again. Over time, a peer may
// take kShare of one core. It may take the share of kAdvance at once. A good answer does not settle
// the debt of a costly one: only time does, at the rate of the share. (A leaky bucket; ITU-T I.371
// calls it the generic cell rate algorithm.)
//
// The share is 20 ms a second. The changes of a digest of a million entries cost 1 to 3 ms.
class WorkAccount {
 public:
  static constexpr int kShare = 50;  // one part in 50
  static constexpr std::chrono::seconds kAdvance{100};
  // The cost of a byte on its way to us, which the clock of the thread that decodes does not show.
  static constexpr std::chrono::nanoseconds kPerByte{1};

  // `work`: processor time; `bytes`: received.
  void charge(std::chrono::nanoseconds work, std::size_t bytes, SteadyTime now) {
    const auto cost = work + kPerByte * static_cast<std::int64_t>(bytes);
    paid_until_ = std::max(paid_until_, now) + kShare * cost;
  }

  // When the peer may be polled again. In the past if it may be polled at any time.
  [[nodiscard]] SteadyTime free_at() const { return paid_until_ - kAdvance; }

 private:
  SteadyTime paid_until_{};
};

// How the peers share digest.peer_memory.
//
// Each of n peers has a share of an n-th, in which its digest always finds room. A digest may take
// more while the others leave it; when another peer needs its share, the largest digest goes. So a
// peer that sends as much as it can takes no share but its own.

// Bytes of filter that each peer keeps, by its place in the list of peers.
using KeptBytes = std::span<const std::size_t>;

// The share of each peer, in bytes. `peers` may be 0.
std::size_t share_of_each(std::size_t limit, std::size_t peers);

// Bytes that the filter of a new digest of this peer may have: its share, or what the others leave
// of the limit. The peer's old digest counts as free, since the new one replaces it.
std::size_t room_for(KeptBytes kept, std::size_t peer, std::size_t limit);

// The peer whose digest is to be dropped because the digests of all peers exceed the limit; nothing
// if they do not exceed it. Never `newest`, the peer whose digest has just been kept within
// room_for().
std::optional<std::size_t> to_give_way(KeptBytes kept, std::size_t newest, std::size_t limit);

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

// The question of a poll.
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
