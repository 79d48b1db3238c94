// What is left of an answer that nobody wants.
#pragma once

#include "proxy/net/asio.hpp"

namespace proxy {

class Fetch;
struct Worker;

// A refusal's body is short and mostly here already; then the connection can be used again. Else it
// is not worth a wait. Ends the fetch.
net::Task<void> discard(Worker& worker, Fetch& fetch);

}  // namespace proxy
