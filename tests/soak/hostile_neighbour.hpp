// A neighbour of all proxies of the soak that makes them work for nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/scripted_origin.hpp"

namespace soak {

// Every second digest is good and claims all resources of the origin, so that the neighbour is not
// given up. Those in between cost as much as a digest may. The neighbour has none of what it
// claims, and says so late.
class HostileNeighbour {
 public:
  // `origin`: the URLs' common beginning.
  explicit HostileNeighbour(const std::string& origin);

  std::uint16_t port() const { return server_.port(); }
  std::size_t digests() const { return digests_; }
  std::size_t false_hits() const { return false_hits_; }

 private:
  support::Reply next_digest();

  std::vector<std::string> digests_in_turn_;
  std::atomic<std::size_t> digests_ = 0;
  std::atomic<std::size_t> false_hits_ = 0;
  support::ScriptedOrigin server_;
};

}  // namespace soak
