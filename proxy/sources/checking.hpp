// Checks neighbours: compares a sample of what they give with what the origin says. No client waits
// for that.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "peers/peer.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

struct SourceAccess;

// A response that a neighbour has given. `length`: of the complete body, if known.
struct Given {
  cache::Ref<const cache::Entry> entry;
  std::optional<std::uint64_t> length;
  peers::PeerRef by;
};

// Asks the origin for what the neighbour gave, and compares (contradiction.hpp). If the two differ
// in a way that no change at the origin explains, drops the stored responses of the URL, and asks
// twice more (examination.hpp). If all answers contradict the neighbour, rests it, and drops all of
// it that no origin has confirmed, in memory, on disk and under way. Returns at once; a detached
// coroutine on the worker's thread does the rest. The origin's bodies are not read, unless they are
// short. Does nothing if too many questions are under way.
void check_given(SourceAccess& access, const Request& request, Given given);
// Call this when a neighbour has given a response to the request. Returns whether check_given() is
// to be called: in the share `digest.check_sample` of the calls.
bool is_to_be_checked(SourceAccess& access, const Request& request);

}  // namespace proxy
