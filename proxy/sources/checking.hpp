// Questions of our own, for which no client waits: whether what neighbours give is the origin's,
// and how often they hold what their digests do not claim. A sample of the requests causes them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "digest/key.hpp"
#include "peers/peer.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/http/head.hpp"
#include "proxy/net/task.hpp"
#include "proxy/policy/request.hpp"

namespace proxy::sources {

struct SourceAccess;

// A response that a neighbour has given. `length`: of the complete body, if known.
struct Given {
  cache::Ref<const cache::Entry> entry;
  std::optional<std::uint64_t> length;
  peers::PeerRef by;
};

// Asks the origin for what the neighbour gave, and compares (contradicts()). If the two differ in
// a way that no change at the origin explains, drops the stored responses of the URL, and asks
// twice more. If all answers contradict the neighbour, rests it, and drops all of it that no origin
// has confirmed, in memory, on disk and under way. Returns at once; a detached coroutine on the
// worker's thread does the rest. The origin's bodies are not read, unless they are short. Does
// nothing if too many questions are under way.
void check_given(SourceAccess& access, const policy::Request& request, Given given);
// Call this when a neighbour has given a response to the request, or a part of it. Returns whether
// check_given() is to be called: in the share `digest.check_sample` of the calls. A whole body that
// has the digest of its URL needs no check.
enum class Came : std::uint8_t { whole, part };
bool is_to_be_checked(SourceAccess& access, const policy::Request& request,
                      const cache::Entry& given, Came came);

// Call this when the origin is asked for a response that a sibling might have. In the share
// `digest.false_miss_sample` of its calls, asks a random usable peer that does not claim the key
// (probe_of()), and records the result by Accuracy::probed(). Returns at once: a detached coroutine
// on the worker's thread does the rest, within the settings timeouts.peer_connect and
// peer_first_byte. The connection is not used again, so bytes after the head cannot reach a client.
void sample_false_miss(SourceAccess& access, const digest::Key& key,
                       const policy::Request& request);

// For a neighbour at whose address somebody else has answered: drops all that the neighbour gave
// and no origin has confirmed, in memory, on disk and under way, in a detached coroutine, and says
// in the log what was dropped.
void disown(SourceAccess& access, const peers::PeerRef& peer);

// The rules follow, as pure functions. Several answers of the origin tell a lie of a neighbour from
// a change at the origin, and from servers of the origin that disagree.

// Whether a difference between a neighbour's response (`given`) and the origin's answer proves that
// the origin never sent `given`. `length`: the complete length of `given`, if known; `origin`: the
// head of the origin's answer to a plain GET; `origin_length`: the length of its body, if known.
//
// There are two such differences, and both compare only a 200 with a 200:
// - the same strong validator, but another length in the same encoding;
// - no validator in common, though the origin's Last-Modified is older than the neighbour's Date,
//   and Last-Modified or the length differs, too. The servers of one origin may make a tag each for
//   the same file, so another tag alone shows nothing.
// Every other difference may be a change at the origin since the neighbour has asked there.
bool contradicts(const http::ResponseHead& origin, std::optional<std::uint64_t> origin_length,
                 const cache::Entry& given, std::optional<std::uint64_t> length);

// What one answer of the origin says about a response that a neighbour gave.
struct Testimony {
  bool contradicts = false;
  std::string version;  // validators and length; empty if the answer is of no version
};
// The parameters are those of contradicts().
Testimony testimony_of(const http::ResponseHead& origin, std::optional<std::uint64_t> origin_length,
                       const cache::Entry& given, std::optional<std::uint64_t> length);

// The answer to the first question may come on a pooled connection. Each further question takes a
// connection of its own, so that a load balancer may lead it to another server.
inline constexpr std::size_t kQuestions = 3;

enum class Ruling : std::uint8_t {
  ask_again,      // the answers so far contradict the neighbour
  nothing,        // the answers say nothing against the neighbour
  origin_varies,  // the answers do not agree: the origin is no witness
  contradicted,   // all answers agree, and contradict the neighbour
};
// `answers`: all so far, at least one.
Ruling ruling_on(std::span<const Testimony> answers);

// How long to wait after so many answers (at least one) before the next question. `first`: the
// setting digest.check_pause. Each further pause is five times as long, since servers of one origin
// may take seconds or minutes to get a change.
std::chrono::milliseconds pause_after(std::size_t answers, std::chrono::milliseconds first);

}  // namespace proxy::sources
