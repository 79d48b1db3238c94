// Reads unwanted bytes of an answer, and drops them.
#pragma once

#include <chrono>
#include <cstdint>

#include "proxy/net/asio.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy {

class Fetch;
struct SourceAccess;

// Reads the rest of the body for at most 20 ms, then finishes the fetch. A refusal's body is short
// and mostly here already. Once the body is read, the connection can serve another request.
net::Task<void> drain_body(SourceAccess& access, Fetch& fetch);

// Reads past the first `bytes` of the body. A shorter body is the failure `cut`. `idle`: the
// longest wait for the next bytes.
net::Task<Outcome<void>> skip_body(SourceAccess& access, Fetch& fetch, std::uint64_t bytes,
                                   std::chrono::milliseconds idle);

}  // namespace proxy
