// Sends long reports while they are made.
#pragma once

#include <memory>

#include "proxy/client/client.hpp"
#include "proxy/inspect/live.hpp"

namespace proxy {

// Answers with the lines that `slices` makes. A thread that may wait for the disk makes one slice
// at a time, after the reads that are queued already. Each slice is sent before the next one is
// made. If the disk hangs (DiskTier::hangs()) or the proxy drains, the last line is {"error":
// "why"} and the response is cut. The response also ends when the client is gone. A slice may still
// be under way on return, so a slice uses only objects that it or the workers own.
net::Task<void> send_slices(const PagesAccess& pages, Client& client,
                            std::shared_ptr<inspect::Slices> slices);

}  // namespace proxy
