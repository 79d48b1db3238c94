// Happy Eyeballs (RFC 8305): tries the addresses of one host in turn; the first to connect wins.
#pragma once

#include <chrono>
#include <vector>

#include "proxy/net/asio.hpp"
#include "proxy/upstream/endpoint.hpp"

namespace proxy::upstream {

inline constexpr std::size_t kMaxAttempts = 16;  // trying thousands of addresses would not help

// Alternates between the families, IPv6 first (section 4), and keeps the order within each. Returns
// at most kMaxAttempts addresses.
Addresses attempt_order(const Addresses& addresses);

// Each attempt starts `head_start` after its predecessor, or at once when an attempt fails (section
// 5). The other connections are closed. A socket with the number `scarce_from` or a higher one is
// closed at once. Errors: connect_refused, connect_failed, connect_timed_out, no_descriptors.
net::Task<net::Result<net::Socket>> race(std::vector<net::tcp::endpoint> endpoints,
                                         std::chrono::milliseconds head_start,
                                         std::chrono::steady_clock::time_point deadline,
                                         std::size_t scarce_from = ~std::size_t{0});

}  // namespace proxy::upstream
