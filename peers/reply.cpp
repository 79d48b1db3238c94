#include "peers/reply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace peers {
namespace {

constexpr std::size_t kMaxEtag = 64;  // ours has under 40

// RFC 9110 section 8.8.3, strong tags of visible ASCII only.
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
  const char* const end = etag.data() + etag.size() - 1;  // the quote
  const auto [stop, error] = std::from_chars(etag.data() + dash + 1, end, generation);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return generation;
}

template <class Error>
std::string reason_of(Error error, Error too_large) {
  if (error == too_large) return std::string(kTooLarge);
  return fmt::format("bad digest: {}", digest::to_string(error));
}

void keep_condition(Verdict& verdict, const Reply& reply) {
  if (verdict.kind != PeerKind::hearsay || !may_be_condition(reply.etag)) return;
  verdict.etag = reply.etag;
  verdict.generation = generation_in(reply.etag);
}

void read_squid_form(const Question& question, const Reply& reply, Verdict& verdict) {
  auto decoded = digest::decode(reply.body, question.room);
  if (!decoded) {
    verdict.error = reason_of(decoded.error(), digest::SquidDigestError::mask_too_large);
    return;
  }
  verdict.outcome = Polled::fetched;
  verdict.claims = Claims(std::move(*decoded));
  keep_condition(verdict, reply);
}

void read_native_form(const Question& question, const Reply& reply, Verdict& verdict) {
  using digest::NativeError;
  auto decoded = digest::decode_native(reply.body, question.held.get(), question.room);
  if (decoded) {
    verdict.outcome = Polled::fetched;
    verdict.kind = PeerKind::hearsay;
    keep_condition(verdict, reply);
    verdict.generation = decoded->generation;
    verdict.claims = Claims(std::move(*decoded));
    return;
  }
  const NativeError error = decoded.error();
  const bool misfit = error == NativeError::checksum_mismatch || error == NativeError::other_base;
  if (error == NativeError::not_native && question.form_is_a_guess) {
    verdict.outcome = Polled::other_form;
  } else {
    if (misfit && question.held) verdict.outcome = Polled::resync;
    verdict.error = reason_of(error, NativeError::too_large);
  }
}

// A Hearsay in trouble is still one; only its 404 says that it does not know our form.
bool is_no_native_peer(const Question& question, const Reply& reply, PeerKind kind) {
  return question.form == DigestForm::native && question.form_is_a_guess &&
         (reply.status == 404 || kind != PeerKind::hearsay);
}

}  // namespace

Verdict judge(const Question& question, const Reply& reply) {
  Verdict verdict;
  verdict.kind = kind_of(reply.server, reply.via, question.known);
  verdict.expires_in = reply.expires_in;
  if (reply.status == 200) {
    question.form == DigestForm::native ? read_native_form(question, reply, verdict)
                                        : read_squid_form(question, reply, verdict);
  } else if (reply.status == 304 && question.conditional) {
    verdict.outcome = Polled::unchanged;
  } else if (is_no_native_peer(question, reply, verdict.kind)) {
    verdict.outcome = Polled::other_form;
  } else if (reply.status == 404 && verdict.kind == PeerKind::squid) {
    verdict.outcome = Polled::building;
    verdict.error = "status 404: this Squid is building its digest, or has no cache_dir";
  } else {
    verdict.error = fmt::format("status {}", reply.status);
  }
  return verdict;
}

Verdict no_reply(const Question& question, std::string error) {
  Verdict verdict;
  verdict.kind = question.known;
  verdict.error = std::move(error);
  return verdict;
}

void enter(PollReport& report, const Verdict& verdict, SteadyTime now) {
  ++report.polls;
  report.kind = verdict.kind;
  report.last_error = verdict.error;
  const bool good = verdict.outcome == Polled::fetched || verdict.outcome == Polled::unchanged;
  if (verdict.outcome == Polled::fetched) {
    report.claims = verdict.claims;
    report.etag = verdict.etag;
    report.generation = verdict.generation;
  }
  if (good) {
    report.confirmed = now;
    report.usable_until = now + usable_for(report.kind);
  } else if (now >= report.usable_until) {
    report.claims = {};
    report.etag.clear();
    report.generation.reset();
  }
  if (verdict.outcome == Polled::resync) {
    ++report.resyncs;
    report.claims.native.reset();
    report.etag.clear();
  }
  if (verdict.outcome == Polled::failed) ++report.polls_failed;
  report.failures_in_a_row = verdict.outcome == Polled::failed ? report.failures_in_a_row + 1 : 0;
}

}  // namespace peers
