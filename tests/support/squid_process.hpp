// Debian's Squid on loopback, unmodified, as a neighbour that has a digest and reads ours.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/access_log.hpp"
#include "tests/support/child_process.hpp"

namespace support {

// Squid from the moment it has rebuilt its empty store and accepts connections. One that is not
// installed is an error like any other.
class SquidProcess {
 public:
  // Its one neighbour, on this port of loopback, is a sibling it asks by its digest alone.
  explicit SquidProcess(std::uint16_t neighbour_port);

  std::uint16_t port() const { return reserved_.port(); }
  std::vector<LogLine> access_log() const;
  std::string cache_log() const { return read_file(directory_ / "cache.log"); }
  // A page of the cache manager, such as "peer_select".
  std::string manager_page(std::string_view name) const;

 private:
  Command squid(std::string_view option) const;

  TemporaryDirectory directory_;
  ReservedPort reserved_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace support
