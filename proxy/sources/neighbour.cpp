#include "proxy/sources/neighbour.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "proxy/http/cache_status.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/text.hpp"
#include "proxy/sources/source_access.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy::sources {

using peers::FalseHit;

namespace {

upstream::FetchPlan plan_for(const policy::Request& request, const peers::Peer& peer,
                             std::string head) {
  const auto& timeouts = request.policy().settings.timeouts;
  if (!peer.authorization.empty()) head = http::to_proxy(head, {}, peer.authorization);
  return {.to = {peer.tls, peer.host, peer.port, upstream::NamedBy::configured},
          .asked = upstream::FetchPlan::Asked::neighbour,
          .head = std::move(head),
          .method = "GET",
          .connect = timeouts.peer_connect,
          .first_byte = timeouts.peer_first_byte};
}

using Outcomes = std::optional<peers::ClaimOutcome>;

// What a finding means for a person, and for the statistics of a neighbour that has claimed the
// URL.
struct Meaning {
  Worth worth;
  std::string_view word;
  Outcomes outcome = std::nullopt;
  Outcomes if_late = outcome;
};
constexpr std::array kMeanings{
    Meaning{Worth::true_hit, "", peers::ClaimOutcome::true_hit}, Meaning{Worth::holds, ""},
    Meaning{Worth::false_hit, "false-hit", peers::ClaimOutcome::false_hit,
            peers::ClaimOutcome::late_no},
    Meaning{Worth::unusable, "unusable", peers::ClaimOutcome::false_hit,
            peers::ClaimOutcome::late_no},
    // A timely no about a range disproves nothing.
    Meaning{Worth::other_range, "unusable", std::nullopt, peers::ClaimOutcome::timed_out},
    Meaning{Worth::refused, "refused", peers::ClaimOutcome::refused},
    Meaning{Worth::refuses_us, "refuses-us", peers::ClaimOutcome::refuses_us},
    Meaning{Worth::not_a_proxy, "not-a-proxy"},  // the attempt has recorded it
    Meaning{Worth::slow, "slow", peers::ClaimOutcome::timed_out},
    Meaning{Worth::broken, "broken", peers::ClaimOutcome::broken},
    Meaning{Worth::unresolved, "dns"},  // as of the failure
    Meaning{Worth::cut, "cut", peers::ClaimOutcome::broken},
    Meaning{Worth::wrong, "wrong", peers::ClaimOutcome::broken},
    Meaning{Worth::outrun, "outrun", peers::ClaimOutcome::outrun}, Meaning{Worth::given_up, ""}};

const Meaning& meaning_of(Worth worth) {
  return *std::find_if(kMeanings.begin(), kMeanings.end(),
                       [worth](const Meaning& one) { return one.worth == worth; });
}

// Whether the neighbour has answered, and has nothing of use.
bool is_a_no(Worth worth) {
  return worth == Worth::false_hit || worth == Worth::unusable || worth == Worth::other_range ||
         worth == Worth::refused;
}

bool starts_with_word(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return text.empty() || text.front() == ' ' || text.front() == '/';
}

// RFC 9211 2.2, 2.8.
FalseHit cause_of(const http::NearestCacheStatus& said) {
  if (said.hit) return FalseHit::untold;
  if (starts_with_word(said.detail, "refused")) return FalseHit::refused;
  if (starts_with_word(said.detail, "unknown")) return FalseHit::unknown;
  if (said.fwd == "uri-miss") {
    return starts_with_word(said.detail, "gone") ? FalseHit::gone : FalseHit::absent;
  }
  if (said.fwd == "vary-miss") return FalseHit::variant;
  if (said.fwd == "stale" || said.fwd == "request") return FalseHit::stale;
  // `detail` tells of Squid's first look-up, by the URL alone. Squid sends `fwd` for stale
  // responses, and not always for others.
  if (said.detail == "mismatch") return FalseHit::absent;
  if (said.detail == "match") return FalseHit::variant;
  if (said.detail == "no-cache") return FalseHit::refused;
  return FalseHit::untold;
}

// "MISS from squid-a.test:3128", as Squid up to version 5 sends it.
FalseHit cause_of_lookup(std::string_view said) {
  const auto word = said.substr(0, said.find(' '));
  if (word == "MISS") return FalseHit::absent;
  if (word == "HIT") return FalseHit::stale;
  if (word == "NONE") return FalseHit::refused;
  return FalseHit::untold;
}

}  // namespace

FalseHit cause_of(const http::ResponseHead& answer) {
  const auto* page = answer.fields.find("X-Squid-Error");
  if (page && !starts_with_word(page->value, "ERR_ONLY_IF_CACHED_MISS")) return FalseHit::refused;
  if (const auto said = http::nearest_cache_status(answer.fields)) return cause_of(*said);
  // Each Squid on the way appends its own field: the last one is the nearest Squid's.
  std::string_view lookup;
  for (const auto& line : answer.fields) {
    if (http::same_word(line.name, "X-Cache-Lookup")) lookup = line.value;
  }
  return cause_of_lookup(lookup);
}

bool holds_other_parts(const http::ResponseHead& answer) {
  const auto said = http::nearest_cache_status(answer.fields);
  return said && !said->hit && said->fwd == "partial";
}

bool refuses_us(const http::ResponseHead& answer) {
  const auto status = answer.status;
  if (status != 403 && status != 407 && status != 504) return false;
  if (const auto* page = answer.fields.find("X-Squid-Error")) {
    return starts_with_word(page->value, "ERR_ACCESS_DENIED") ||
           starts_with_word(page->value, "ERR_CACHE_ACCESS_DENIED");
  }
  const auto said = http::nearest_cache_status(answer.fields);
  return said && starts_with_word(said->detail, std::string("refused/").append(kNotAClient));
}

Finding finding_in(const http::ResponseHead& answer, const SiblingQuestion& asked) {
  const auto status = answer.status;
  const auto& part = asked.part;
  // Before the statuses: a 504 that refuses us says nothing of the key.
  if (refuses_us(answer)) return {Worth::refuses_us, FalseHit::refused};
  if (status == 504 && part && holds_other_parts(answer)) return {Worth::other_range};
  // A Squid may answer 502 in place of the 504 of RFC 9111 5.2.1.7.
  if (status == 504 || status == 502) return {Worth::false_hit, cause_of(answer)};
  if (status == 200 || (status == 206 && part)) return {Worth::holds};
  if (status == 304 && !asked.tag.empty()) return {Worth::holds};
  if (status != 416 || !part) return {Worth::refused};
  // RFC 9110 15.5.17: who answers 416 knows the length.
  if (part->validator.empty()) return {Worth::other_range};
  return {Worth::unusable, FalseHit::unfit};
}

Finding finding_in(const upstream::Failure& failure) {
  if (failure.what == upstream::Failure::What::abandoned) return {Worth::given_up};
  if (failure.what == upstream::Failure::What::dns) return {Worth::unresolved};
  if (failure.cause == upstream::Errc::not_the_peer) return {Worth::not_a_proxy};
  if (failure.cause == upstream::Errc::unproven_peer) return {Worth::false_hit, FalseHit::unknown};
  return {failure.what == upstream::Failure::What::timed_out ? Worth::slow : Worth::broken};
}

Finding worth_of(const upstream::Outcome<void>& body) {
  if (body) return {Worth::true_hit};
  if (body.error().cause == upstream::Errc::wrong_content) return {Worth::wrong};
  if (body.error().what == upstream::Failure::What::abandoned) return {Worth::given_up};
  return {.worth = Worth::cut, .late = body.error().what == upstream::Failure::What::timed_out};
}

std::optional<Finding> objection(cache::Storability storability, const cache::Entry& entry,
                                 const http::ResponseHead& answer, const cache::Times& times,
                                 const policy::Request& request) {
  // A digest claims only what is fresh, so a stale answer makes the claim false.
  if (!entry.fresh(times.response)) return Finding{Worth::unusable, FalseHit::stale};
  if (storability == cache::Storability::vary_too_long || selected_by_withheld(answer, request)) {
    return Finding{Worth::unusable, FalseHit::variant};
  }
  if (storability != cache::Storability::yes || answer.fields.has(http::field::set_cookie)) {
    return Finding{Worth::unusable, FalseHit::unfit};
  }
  return std::nullopt;
}

Finding in_time(Finding finding, std::chrono::microseconds waited,
                std::chrono::milliseconds first_byte) {
  finding.late = is_a_no(finding.worth) && 2 * waited > first_byte;
  return finding;
}

bool is_denial(const Finding& finding) {
  return finding.worth == Worth::false_hit &&
         (finding.cause == FalseHit::absent || finding.cause == FalseHit::gone ||
          finding.cause == FalseHit::unknown || finding.cause == FalseHit::untold);
}

std::optional<bool> says_it_holds(const http::ResponseHead& answer) {
  const auto finding = finding_in(answer, {});
  if (finding.worth == Worth::holds) return true;
  const bool says_no = finding.worth == Worth::false_hit;
  if (!says_no || finding.cause == FalseHit::refused) return std::nullopt;
  return false;
}

std::optional<peers::ClaimOutcome> outcome_for(const Finding& finding, Claiming said) {
  using peers::ClaimOutcome;
  const bool claims = said == Claiming::key;
  if (!claims && finding.worth == Worth::true_hit) return ClaimOutcome::unclaimed_hit;
  if (said == Claiming::waits) return std::nullopt;
  const bool has_none = finding.worth == Worth::false_hit || finding.worth == Worth::unusable;
  // Who has claimed nothing has kept its word, and can only have taken too long.
  if (!claims && has_none)
    return finding.late ? ClaimOutcome::timed_out : ClaimOutcome::unclaimed_no;
  const auto& meaning = meaning_of(finding.worth);
  return finding.late ? meaning.if_late : meaning.outcome;
}

std::string_view word(Worth worth) {
  return meaning_of(worth).word;
}

std::string_view word_for_cause(const Finding& finding) {
  const bool told = finding.worth == Worth::false_hit && finding.cause != FalseHit::untold;
  return told ? peers::to_string(finding.cause) : std::string_view();
}

std::string words_for(const Finding& finding, std::string_view name) {
  const auto result = word(finding.worth);
  if (result.empty()) return {};
  auto words = std::string(result).append("/").append(name);
  const auto cause = word_for_cause(finding);
  if (!cause.empty()) words.append(" because/").append(cause);
  if (finding.late) words.append(" slow/").append(name);
  return words;
}

Attempt attempt_at(SourceAccess& access, const peers::PeerRef& peer, const policy::Request& request,
                   const SiblingQuestion& asked, Lead lead) {
  auto question = asked;
  std::string digest;
  // Without a claim there is no digest to name.
  if (lead == Lead::claim) {
    peer->accuracy.ask();
    digest = request.policy().directory->native_etag(peer);
  }
  question.digest = digest;
  auto plan = plan_for(request, *peer, sibling_request(request, access.shared.name, question));
  if (lead == Lead::site) plan.first_byte = request.policy().settings.timeouts.first_byte;
  return {access, std::move(plan), peer, request.policy().directory, lead};
}

// Not repeatable, so that it takes a new connection: on a pooled one, bytes behind the head of the
// answer to HEAD could pass for the next answer.
Attempt probe_of(SourceAccess& access, const peers::PeerRef& peer, const policy::Request& request) {
  auto plan = plan_for(request, *peer, sibling_request(request, access.shared.name, {}, "HEAD"));
  plan.method = "HEAD";
  plan.repeatable = false;
  return {access, std::move(plan), peer, request.policy().directory};
}

std::optional<peers::Epoch> fetcher_named_in(const http::ResponseHead& answer) {
  const auto said = http::nearest_cache_status(answer.fields);
  // The epoch is enough: our polls have shown which neighbour has it, and a made-up one names
  // nobody.
  constexpr std::string_view kNames = "fetched-by/";
  if (!said || !said->detail.starts_with(kNames)) return std::nullopt;
  return peers::parse_epoch(std::string_view(said->detail).substr(kNames.size()));
}

std::optional<std::chrono::microseconds> first_byte_of(const Attempt& attempt,
                                                       const Finding& finding) {
  // A connection that breaks may do so at once, which is no time of an answer.
  if (finding.worth == Worth::broken || attempt.waits_itself()) return std::nullopt;
  return attempt.waited();
}

std::optional<peers::ClaimOutcome> outcome_of(const Attempt& attempt, const Finding& finding) {
  const auto unclaimed = attempt.waits_itself() ? Claiming::waits : Claiming::nothing;
  return outcome_for(finding, attempt.lead() == Lead::claim ? Claiming::key : unclaimed);
}

void record_worth(peers::PeerDirectory& directory, const Attempt& attempt, const Finding& finding,
                  peers::SteadyTime now, std::uint64_t bytes) {
  const auto outcome = outcome_of(attempt, finding);
  if (!outcome) return;
  directory.record(attempt.peer(),
                   {*outcome, first_byte_of(attempt, finding), bytes, finding.cause}, now);
  if (finding.worth == Worth::wrong) attempt.peer()->accuracy.contradicted(now);
}

}  // namespace proxy::sources
