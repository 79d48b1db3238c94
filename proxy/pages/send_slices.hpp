// What takes long to find out, sent as it is found out.
#pragma once

#include <memory>

#include "proxy/client/client.hpp"
#include "proxy/inspect/live.hpp"

namespace proxy {

// Answers with the lines that the slices make: one slice after the other, each made on a thread
// that may wait for the disk, behind the reads that wait already, and sent before the next is
// begun. Where the disk does not answer, as DiskTier::hangs() says, and when we drain, the last
// line says so, {"error": "why"}, and the answer is cut. It ends with the client, too. A slice may
// be under way yet when this has ended: it owns what it uses, or that is the workers'.
net::Task<void> send_slices(Client& client, std::shared_ptr<inspect::Slices> slices);

}  // namespace proxy
