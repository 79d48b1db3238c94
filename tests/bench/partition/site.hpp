// A proxy at each host of a network, its clients, and the origin.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "tests/bench/faults/open_loop.hpp"
#include "tests/bench/partition/network.hpp"
#include "tests/support/proxy_process.hpp"

namespace bench {

// Proxies "0", "1", ..., all neighbours of each other, or of nobody.
class Site {
 public:
  Site(const Network& network, bool has_peers);

  // Returns once every proxy uses the digests of all others.
  void await_claims() const;
  // The number of claims of each proxy.
  std::vector<std::size_t> claims() const;
  // Whether every proxy knows at least so many claims of each other one, and these count.
  bool knows(const std::vector<std::size_t>& claims) const;
  // The number of neighbours, summed over all proxies, that are on trial: one request at a time
  // asks them, and the next source at once.
  std::size_t on_trial() const;

 private:
  support::json digest(std::size_t host) const;
  bool knows(std::size_t host, const std::vector<std::size_t>& claims) const;

  const Network& network_;
  std::deque<support::ProxyProcess> proxies_;
};

// What the clients of a host ask for: each second request for a new URL, the others for URLs that
// the clients of another host have asked for 3 to 60 s before.
std::vector<std::string> urls_for(std::size_t host, const Network& network, const std::string& site,
                                  double rate, double seconds);

// One list of samples for each host. Its clients ask its proxy for these URLs.
std::vector<std::vector<Sample>> ask_all(const Network& network,
                                         const std::vector<std::vector<std::string>>& urls,
                                         double rate);

}  // namespace bench
