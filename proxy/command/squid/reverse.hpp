// The sites that the servers behind an accelerator have.
#pragma once

#include <vector>

#include "proxy/command/squid/peer.hpp"
#include "proxy/command/squid/plain.hpp"

namespace proxy::command::squid {

// Writes "reverse" and "forward". An origin whose sites the settings cannot name is left out, so no
// request gets to another server than in Squid. Pure.
void write_reverse(std::vector<Peer> origins, const Accelerators& accelerators, Imported& into,
                   Findings& findings);

}  // namespace proxy::command::squid
