#include "peers/poll.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "config/text.hpp"

namespace peers {
namespace {

constexpr std::size_t kMaxEtag = 64;  // our own have under 40

// It becomes a line of our next request as it is, where foreign bytes could begin another line.
// Whether this is a strong entity tag of visible ASCII characters (RFC 9110 section 8.8.3).
bool may_be_condition(std::string_view etag) {
  if (etag.size() < 2 || etag.size() > kMaxEtag) return false;
  if (etag.front() != '"' || etag.back() != '"') return false;
  const auto inside = etag.substr(1, etag.size() - 2);
  return std::all_of(inside.begin(), inside.end(),
                     [](char c) { return c > ' ' && c < '\x7f' && c != '"'; });
}

std::optional<std::uint64_t> generation_in(std::string_view etag) {
  const auto dash = etag.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  return config::parse_number(etag.substr(dash + 1, etag.size() - dash - 2), UINT64_MAX);
}

template <class Error>
std::string reason_of(Error error, Error too_large) {
  if (error == too_large) return std::string(kTooLarge);
  return fmt::format("bad digest: {}", digest::to_string(error));
}

void drop_digest(PollReport& report) {
  report.claims = {};
  report.etag.clear();
  report.generation.reset();
}

void keep_condition(PollResult& result, const PollResponse& response) {
  if (result.kind != PeerKind::hearsay || !may_be_condition(response.etag)) return;
  result.etag = response.etag;
  result.generation = generation_in(response.etag);
}

void read_squid_form(const PollRequest& request, const PollResponse& response, PollResult& result) {
  auto decoded = digest::decode(response.body, request.room);
  if (!decoded) {
    result.error = reason_of(decoded.error(), digest::SquidDigestError::mask_too_large);
    return;
  }
  result.outcome = Polled::fetched;
  result.claims = Claims(std::move(*decoded));
  keep_condition(result, response);
}

// Whether the answer for a Hearsay names no proxy at all. A server that has taken over the peer's
// address says nothing of the forms that the peer serves.
bool is_strangers(const PollRequest& request, const PollResponse& response) {
  return request.known == PeerKind::hearsay && response.epochs.empty() &&
         kind_of(response.server, response.via, PeerKind::unknown) == PeerKind::unknown;
}

bool is_oversized(const digest::NativeHead& head) {
  const std::uint64_t proven = std::min(head.entries, head.bits_set);
  return head.shape.bits > kSmallDigest && head.shape.bits / kMostBitsPerEntry > proven;
}

void read_native_form(const PollRequest& request, const PollResponse& response,
                      PollResult& result) {
  using digest::NativeError;
  const auto head = digest::read_native_head(response.body);
  // Before it is decoded, which allocates the filter.
  if (head && is_oversized(*head)) {
    result.error = "bad digest: far larger than its entries call for";
    return;
  }
  auto decoded = digest::decode_native(response.body, request.base.get(), request.room);
  if (decoded) {
    result.outcome = Polled::fetched;
    result.kind = PeerKind::hearsay;
    keep_condition(result, response);
    result.generation = decoded->generation;
    result.identity.learn_epoch_of_digest(decoded->epoch);
    result.claims = Claims(std::move(*decoded));
    return;
  }
  const NativeError error = decoded.error();
  const bool misfit = error == NativeError::checksum_mismatch || error == NativeError::other_base;
  const bool may_guess = request.form_is_a_guess && !is_strangers(request, response);
  if (error == NativeError::not_native && may_guess) {
    result.outcome = Polled::other_form;
  } else {
    if (misfit && request.base) result.outcome = Polled::resync;
    result.error = reason_of(error, NativeError::too_large);
  }
}

bool is_good(const PollResult& result) {
  return result.outcome == Polled::fetched || result.outcome == Polled::unchanged;
}

// Whether the peer does not serve the native form. A Hearsay that answers with an error is still a
// Hearsay; only its 404 means that it does not know the form.
bool is_no_native_peer(const PollRequest& request, const PollResponse& response, PeerKind kind) {
  return request.form == DigestForm::native && request.form_is_a_guess &&
         (response.status == 404 || kind != PeerKind::hearsay);
}

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kFirstPause{1};  // after a failure
// A Hearsay that has worked is mostly back soon, and until then its claims are lost.
constexpr seconds kHearsayBack{2};
constexpr seconds kUnknownBack{30};
constexpr seconds kSquidBack{300};
constexpr seconds kLongestWait{5};  // that a Hearsay is asked to hold a poll
constexpr seconds kSquidNearest{10};
constexpr seconds kSquidFarthest{3600};
constexpr seconds kSquidDefault{300};
constexpr seconds kSquidSpread{5};

milliseconds share(milliseconds whole, double part) {
  return std::chrono::duration_cast<milliseconds>(whole * part);
}

// Never later: `poll` is the promise how old a claim may be.
milliseconds earlier(milliseconds gap, double jitter) {
  return gap - share(gap, 0.1 * jitter);
}

milliseconds pause_after(const LastPoll& last) {
  const milliseconds longest = last.unresolved || last.kind == PeerKind::hearsay ? kHearsayBack
                               : last.kind == PeerKind::squid                    ? kSquidBack
                                                                                 : kUnknownBack;
  const auto failures = last.failures_in_a_row;
  const std::uint32_t doublings = std::min(failures > 0 ? failures - 1 : 0, 16U);
  return std::min<milliseconds>(longest, kFirstPause * (1 << doublings));
}

milliseconds squid_gap(std::optional<seconds> expires_in, double jitter) {
  const seconds expires =
      std::clamp(expires_in.value_or(kSquidDefault), seconds{0}, kSquidFarthest);
  return std::clamp<milliseconds>(expires + share(kSquidSpread, jitter), kSquidNearest,
                                  kSquidFarthest);
}

std::size_t sum_of(KeptBytes kept) {
  return std::accumulate(kept.begin(), kept.end(), std::size_t{0});
}

}  // namespace

PollResult read_poll(const PollRequest& request, const PollResponse& response) {
  PollResult result;
  result.kind = kind_of(response.server, response.via, request.known);
  result.expires_in = response.expires_in;
  result.identity = Identity({.epochs = response.epochs,
                              .via = response.via,
                              .cache_status = response.cache_status,
                              .x_cache = response.x_cache,
                              .x_cache_lookup = response.x_cache_lookup});
  if (response.status == 200) {
    request.form == DigestForm::native ? read_native_form(request, response, result)
                                       : read_squid_form(request, response, result);
  } else if (response.status == 304 && request.conditional) {
    result.outcome = Polled::unchanged;
  } else if (is_no_native_peer(request, response, result.kind)) {
    result.outcome = Polled::other_form;
  } else if (response.status == 404 && result.kind == PeerKind::squid) {
    result.outcome = Polled::building;
    result.error = "status 404: this Squid is building its digest, or has no cache_dir";
  } else {
    result.error = fmt::format("status {}", response.status);
  }
  if (is_good(result) && result.identity.is_nobody()) result.error = kNamesNobody;
  return result;
}

PollResult no_response(const PollRequest& request, std::string error) {
  PollResult result;
  result.kind = request.known;
  result.error = std::move(error);
  return result;
}

void give_way(PollReport& report) {
  drop_digest(report);
  report.last_error = "digest dropped: other peers need their shares of digest.peer_memory";
}

void enter(PollReport& report, const PollResult& result, SteadyTime now) {
  ++report.polls.made;
  report.kind = result.kind;
  report.last_error = result.error;
  report.unresolved = result.unresolved ? report.unresolved + 1 : 0;
  const bool good = is_good(result);
  if (result.outcome == Polled::fetched) {
    report.claims = result.claims;
    report.etag = result.etag;
    report.generation = result.generation;
  }
  if (good) {
    report.confirmed = now;
    report.identity = result.identity.after(report.identity);
    // From now on and not from when it was asked: a held poll was answered by what is current now.
    report.usable_until = now + usable_for(report.kind);
  } else if (now >= report.usable_until) {
    drop_digest(report);
  }
  if (result.outcome == Polled::resync) {
    ++report.polls.resyncs;
    // Without a base and a condition the next poll asks for a whole digest. The filter stays in use
    // until then.
    report.claims.native.reset();
    report.etag.clear();
  }
  if (result.outcome == Polled::failed) ++report.polls.failed;
  // A page of any web server looks like the other form, so the poll for that form decides.
  if (result.outcome == Polled::other_form) return;
  report.failures_in_a_row = result.outcome == Polled::failed ? report.failures_in_a_row + 1 : 0;
}

SteadyTime next_poll(const LastPoll& last, milliseconds poll, double jitter, SteadyTime now) {
  const bool squid = last.kind == PeerKind::squid;
  const auto outcome = last.outcome;
  if (outcome == Polled::fetched || outcome == Polled::unchanged) {
    // A Squid builds its digest by the hour, and says when the next one is due.
    if (squid) return now + squid_gap(last.expires_in, jitter);
    return now + std::max(earlier(poll, jitter) - last.held, milliseconds{0});
  }
  if (outcome == Polled::other_form || outcome == Polled::resync) return now;
  if (outcome == Polled::building) return now + kSquidNearest;
  const milliseconds pause = earlier(pause_after(last), jitter);
  return now + std::max(pause - last.overdue, milliseconds{0});
}

milliseconds silence_of(const PollLimits& limits, std::uint32_t failures_in_a_row,
                        milliseconds took) {
  const milliseconds stall = limits.stall;
  if (failures_in_a_row >= kDownAfter) return stall;
  return std::min(std::max(limits.silence, 2 * took), stall);
}

milliseconds hold_time(const PollLimits& limits, milliseconds poll, milliseconds last_held) {
  const auto once = std::max(limits.hold, std::min<milliseconds>(poll, kLongestWait));
  return last_held < once ? once : std::max(once, std::min<milliseconds>(2 * once, kLongestWait));
}

milliseconds held_for(milliseconds asked, milliseconds waited) {
  return std::clamp(waited, milliseconds{0}, asked);
}

std::chrono::seconds usable_for(PeerKind kind) {
  return kind == PeerKind::squid ? std::chrono::hours{2} : seconds{60};
}

std::size_t share_of_each(std::size_t limit, std::size_t peers) {
  return limit / std::max<std::size_t>(peers, 1);
}

std::size_t room_for(KeptBytes kept, std::size_t peer, std::size_t limit) {
  const std::size_t others = sum_of(kept) - kept[peer];
  return std::max(share_of_each(limit, kept.size()), limit - std::min(others, limit));
}

// If a digest within its share takes the sum over the limit, some other exceeds its share.
std::optional<std::size_t> to_give_way(KeptBytes kept, std::size_t newest, std::size_t limit) {
  if (sum_of(kept) <= limit) return std::nullopt;
  std::optional<std::size_t> largest;
  for (std::size_t peer = 0; peer < kept.size(); ++peer) {
    if (peer != newest && (!largest || kept[peer] > kept[*largest])) largest = peer;
  }
  return largest;
}

}  // namespace peers
