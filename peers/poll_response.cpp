#include "peers/poll_response.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace peers {
namespace {

constexpr std::size_t kMaxEtag = 64;  // our own have under 40

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
  std::uint64_t generation = 0;
  const char* const end = etag.data() + etag.size() - 1;  // at the closing quote
  const auto [stop, error] = std::from_chars(etag.data() + dash + 1, end, generation);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return generation;
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
    report.usable_until = now + usable_for(report.kind);
  } else if (now >= report.usable_until) {
    drop_digest(report);
  }
  if (result.outcome == Polled::resync) {
    ++report.polls.resyncs;
    report.claims.native.reset();
    report.etag.clear();
  }
  if (result.outcome == Polled::failed) ++report.polls.failed;
  // A page of any web server looks like the other form, so the poll for that form decides.
  if (result.outcome == Polled::other_form) return;
  report.failures_in_a_row = result.outcome == Polled::failed ? report.failures_in_a_row + 1 : 0;
}

}  // namespace peers
