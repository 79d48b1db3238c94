// What the clients of a mesh ask for: Zipf over URLs, each at any proxy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct Workload {
  double seconds = 10;
  double rate = 150;  // requests a second, all proxies together
  double alpha = 0.9;
  std::uint64_t urls = 60'000;
  std::uint64_t body = 2560;  // bytes, on average
  unsigned seed = 1;
};

struct Ask {
  std::size_t proxy;
  std::size_t url;
};

std::vector<Ask> asks_of(const Workload& workload, std::size_t proxies);

std::string path_of(std::size_t url);
// Half to one and a half times `mean` bytes, different for each path.
std::string body_of(const std::string& path, std::size_t mean);

// The memory that a proxy takes for all URLs that are asked for: bodies, heads, places in indexes.
std::uint64_t footprint(const std::vector<Ask>& asks, std::size_t mean_body);

}  // namespace bench
