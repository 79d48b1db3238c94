// Asks a neighbour for a response that its digest claims, judges the claim by the answer, and
// records the result in the neighbour's statistics. claimant_search.hpp says whom to ask.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "digest/key.hpp"
#include "peers/directory.hpp"
#include "proxy/cache/judge.hpp"
#include "proxy/sources/attempt.hpp"
#include "proxy/sources/upstream_request.hpp"

namespace proxy::sources {

// The worth of a neighbour's answer: see outcome_for().
enum class Worth : std::uint8_t {
  true_hit,   // it sent the whole response, or the whole part
  holds,      // it has begun to send a response: the caller judges whether it is of use
  false_hit,  // it does not hold the response: 504, or a Squid's 502 (RFC 9111 5.2.1.7)
  unusable,   // it holds another version, or a response that may not answer this request
  // The neighbour holds a response, but not this range: 416, 504 with fwd=partial, or another part
  // than was asked for. That does not disprove the claim, which is about the URL.
  other_range,
  refused,      // it answered with a status that a sibling must not give
  refuses_us,   // it serves nothing to our address
  not_a_proxy,  // somebody else has answered at its address
  slow,         // no head came in time
  broken,       // it sent no HTTP, or nothing
  unresolved,   // it was not asked, since its name was not resolved: that says nothing about it
  cut,          // the body ended early or was too slow
  wrong,        // the body does not have the digest that names it: the neighbour rests for long
  outrun,       // it was silent for longer than expected, and another source has answered
  given_up,     // this proxy gave up: that says nothing about the neighbour
};
struct Finding {
  Worth worth = Worth::holds;
  peers::FalseHit cause = peers::FalseHit::untold;  // of Worth::false_hit and Worth::unusable
  // A no that cost the client time: see in_time(). Of Worth::cut: the body was too slow.
  bool late = false;

  bool operator==(const Finding&) const = default;
};

// The rules follow, as pure functions.

// The cause of a negative answer to only-if-cached. A Hearsay tells every cause in Cache-Status:
// `fwd`, and "gone", "unknown" or "refused" in `detail`. Any cache that follows RFC 9211 tells the
// causes that have a `fwd`.
// Squid 6 and later give the result of the look-up there ("match", "mismatch", "no-cache"). Squid 5
// tells in X-Cache-Lookup whether it found the URL. No Squid tells that a response has left its
// store. In X-Squid-Error every Squid names an error other than the miss.
peers::FalseHit cause_of(const http::ResponseHead& answer);

// Whether the answer says that the sibling holds the response, but not the bytes that were asked
// for (RFC 9211 2.2: fwd=partial).
bool holds_other_parts(const http::ResponseHead& answer);

// The detail with which a Hearsay refuses a client that is not in its access.clients. To a question
// of a neighbour it adds "refused/" in front.
inline constexpr std::string_view kNotAClient = "denied/access.clients";
// Whether the answer says that the sibling serves nothing to us, whatever we ask for: by the detail
// of a Hearsay, or by a Squid's page.
bool refuses_us(const http::ResponseHead& answer);

// What the head of an answer says about the claim. A neighbour that answers 416 knows the length,
// and so holds a response (RFC 9110 15.5.17): 416 does not disprove the claim. But if the request
// for a part named a validator, the range lies within that version, so 416 says that the neighbour
// holds another version.
Finding finding_in(const http::ResponseHead& answer, const SiblingQuestion& asked);
// What a failure before the head says about the neighbour.
Finding finding_in(const upstream::Failure& failure);
// What an answer was worth after its body has ended, failed, or was given up.
Finding worth_of(const upstream::Outcome<void>& body);
// Why a response that a neighbour sends may not answer the request; nothing if it may. A response
// with Set-Cookie never may. `entry`: the entry made from the response; `storability`: the entry's.
std::optional<Finding> objection(cache::Storability storability, const cache::Entry& entry,
                                 const http::ResponseHead& answer, const cache::Times& times,
                                 const policy::Request& request);
// The finding, with `late` set if the neighbour took more than half of `first_byte`
// (timeouts.peer_first_byte) to say that it has nothing of use. An honest neighbour says so in the
// time of a hit in memory, a few milliseconds: it has nothing to read or to fetch. In half of the
// time in which it must begin to send a response, even a busy neighbour can say so.
Finding in_time(Finding finding, std::chrono::microseconds waited,
                std::chrono::milliseconds first_byte);
// Whether the neighbour does not hold the response, so that it need not be asked again until its
// digest has changed.
bool is_denial(const Finding& finding);
// What the neighbour had said about the URL before it answered. `waits`: it claimed nothing, and
// said that it waits for its own source, so its failures are those of that source.
enum class Claiming : std::uint8_t { key, nothing, waits };
// The outcome for the neighbour's statistics; nothing if the finding is not about the neighbour.
std::optional<peers::ClaimOutcome> outcome_for(const Finding& finding,
                                               Claiming said = Claiming::key);
// Whether the answer says that the neighbour holds the response; nothing if it does not tell.
std::optional<bool> says_it_holds(const http::ResponseHead& answer);
// The worth as one word, such as "false-hit". Empty: the answer was of use, or says nothing.
std::string_view word(Worth worth);
// The cause of a false hit, as /digest spells it; empty if it is not told.
std::string_view word_for_cause(const Finding& finding);
// The finding as words for `detail` of Cache-Status, such as "false-hit/b because/gone". Empty for
// a true hit.
std::string words_for(const Finding& finding, std::string_view name);
// An attempt to get what is `asked` from the peer: a GET with only-if-cached and without
// credentials, within the time-outs for peers.
Attempt attempt_at(SourceAccess& access, const peers::PeerRef& peer, const policy::Request& request,
                   const SiblingQuestion& asked, Lead lead = Lead::claim);
// As attempt_at(), but with HEAD, for the whole response, and on a connection of its own that is
// not used again.
Attempt probe_of(SourceAccess& access, const peers::PeerRef& peer, const policy::Request& request);

// The neighbour that a sibling's answer names as the one that fetches the response, by its epoch.
std::optional<peers::Epoch> fetcher_named_in(const http::ResponseHead& answer);

// As outcome_for(). The attempt tells what the neighbour had said.
std::optional<peers::ClaimOutcome> outcome_of(const Attempt& attempt, const Finding& finding);
// The neighbour's time to first byte. Nothing if the connection broke, or if the neighbour waited
// for a source of its own.
std::optional<std::chrono::microseconds> first_byte_of(const Attempt& attempt,
                                                       const Finding& finding);
// Records in the neighbour's statistics what its answer was worth. `bytes`: how many bytes of the
// body were used.
void record_worth(peers::PeerDirectory& directory, const Attempt& attempt, const Finding& finding,
                  peers::SteadyTime now, std::uint64_t bytes = 0);

}  // namespace proxy::sources
