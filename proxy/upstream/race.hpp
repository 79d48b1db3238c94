// Happy Eyeballs (RFC 8305): the addresses of one host tried in turn, the first to answer wins.
#pragma once

#include <chrono>
#include <vector>

#include "proxy/net/asio.hpp"
#include "proxy/upstream/name_cache.hpp"

namespace proxy::upstream {

inline constexpr std::size_t kMaxAttempts = 16;  // an answer with thousands is no better than this

// The families take turns, IPv6 first (section 4); within a family the order stays. At most
// kMaxAttempts.
Addresses attempt_order(const Addresses& addresses);

// Each attempt starts `head_start` after the one before, or at once when an attempt fails (section
// 5). The losers are closed. Errors: connect_refused, connect_failed, connect_timed_out.
net::Task<net::Result<net::Socket>> race(std::vector<net::tcp::endpoint> endpoints,
                                         std::chrono::milliseconds head_start,
                                         std::chrono::steady_clock::time_point deadline);

}  // namespace proxy::upstream
