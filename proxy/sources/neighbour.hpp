// Asking a neighbour for what its digest claims: the request, what the answer says of the claim,
// and what is noted of it. Every question to a neighbour about a response goes through here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "digest/key.hpp"
#include "peers/directory.hpp"
#include "proxy/cache/policy.hpp"
#include "proxy/sources/attempt.hpp"
#include "proxy/sources/upstream_request.hpp"

namespace proxy {

// What asking a neighbour was worth: see noted_as().
enum class Worth : std::uint8_t {
  true_hit,   // it sent the whole response, or the whole part
  holds,      // it has begun to send one: the caller judges whether that is of use
  false_hit,  // it does not hold the response: 504, or a Squid's 502 (RFC 9111 5.2.1.7)
  unusable,   // it holds another version, or a response that may not answer this request
  // It holds a response, and its answer is about the range: 416, or a part that was not asked for.
  // That says nothing against its claim, which is of the URL.
  other_range,
  refused,   // it answered with a status that a sibling must not give
  slow,      // no head came in time
  broken,    // no HTTP came, or nothing
  cut,       // the body ended early or was too slow
  given_up,  // by this proxy: says nothing of the neighbour
};
struct Finding {
  Worth worth = Worth::holds;
  peers::FalseHit cause = peers::FalseHit::untold;  // of a false hit, or why it is unusable

  bool operator==(const Finding&) const = default;
};

// The rules. Pure.

// What the head of an answer says of the claim. `part`: what the question asked for, if not for the
// whole response. 416 comes from a neighbour that knows the length, and so holds a response (RFC
// 9110 15.5.17): it is about the range, and says nothing against the claim. If the question names a
// validator, the range lies within that version, and 416 says that the neighbour holds another one.
Finding heard_in(const http::ResponseHead& answer, const std::optional<PartAsked>& part);
// What the lack of a head says.
Finding heard_in(const Failure& failure);
// What the body of an answer was worth, taken as far as it came, or was wanted.
Finding worth_of(const Outcome<void>& body);
// Why a response that a neighbour sends may not answer the request; nothing if it may. `entry`:
// what the response makes of what is stored; `storability`: the entry's.
std::optional<Finding> objection(cache::Storability storability, const cache::Entry& entry,
                                 const http::ResponseHead& answer, const cache::Times& times,
                                 const Request& request);
// What the books of the neighbour get; nothing where the finding is not about its claim.
std::optional<peers::ClaimOutcome> noted_as(Worth worth);
// What Cache-Status tells of it, in `detail`: "false-hit/b because/gone"; empty for a true hit.
std::string words_for(const Finding& finding, std::string_view name);
// Whether another neighbour may be asked next: one that cost time may not be followed by another.
bool allows_another(Worth worth);

// An attempt to get the response, or that part of it, from the peer: a GET with only-if-cached and
// without credentials, within the time-outs for peers.
Attempt attempt_at(Worker& worker, const peers::PeerRef& peer, const Request& request,
                   const std::optional<PartAsked>& part);
// The same by HEAD, on a connection of its own, which nobody uses after the head.
Attempt probe_of(Worker& worker, const peers::PeerRef& peer, const Request& request);

// Notes in the directory's books on the neighbour what its answer was worth. `bytes`: of the body,
// as received.
void note_worth(peers::PeerDirectory& directory, const Attempt& attempt, const Finding& finding,
                std::uint64_t bytes = 0);

// The neighbours that claim a key, asked one after the other, the cheapest first, until one holds
// it. Belongs to one coroutine; all that it is given outlives it.
class ClaimantSearch {
 public:
  struct For {
    digest::Key key;  // of the URL
    const Request& request;
    std::optional<PartAsked> part = {};
  };
  // Counts a claim of each. `detail` gets words_for() what is found, for Cache-Status.
  ClaimantSearch(Worker& worker, For wanted, std::string& detail);

  // The next answer of a neighbour that holds the response. Nothing if no neighbour is left to ask,
  // or one has cost time, or after abandon(). Notes what the other neighbours answered.
  net::Task<std::optional<Attempt>> next();
  // Notes what an answer from next() turned out to be worth, as note_worth().
  void note(const Attempt& attempt, const Finding& finding, std::uint64_t bytes = 0);

  // Ends the search, and the wait that is under way; from outside its coroutine.
  void abandon();
  [[nodiscard]] bool abandoned() const { return abandoned_; }

 private:
  net::Task<Finding> ask(Attempt& attempt);

  Worker& worker_;
  const For wanted_;
  std::string& detail_;
  const peers::Claimants claimants_;
  std::size_t asked_ = 0;
  Attempt* under_way_ = nullptr;
  bool over_ = false;
  bool abandoned_ = false;
};

}  // namespace proxy
