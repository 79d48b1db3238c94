// Drops what came from a neighbour that is not what it claims.
#pragma once

#include <string>

#include "peers/peer.hpp"
#include "proxy/net/task.hpp"

namespace proxy {

struct SourceAccess;

// Purges all that the neighbour gave and no origin has confirmed: in memory, on disk and under way.
// Returns what a person is told of it.
net::Task<std::string> purge_given(SourceAccess& access, const peers::Peer& peer);

// For a neighbour at whose address somebody else has answered: as purge_given(), in a detached
// coroutine, and says in the log what was dropped.
void disown(SourceAccess& access, const peers::PeerRef& peer);

}  // namespace proxy
