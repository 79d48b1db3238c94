// Debian's Squid on loopback, unmodified, as a neighbour that serves a digest and reads Hearsay's,
// as a child, or as a parent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/access_log.hpp"
#include "tests/support/child_process.hpp"

namespace support {

// A Squid that has rebuilt its empty store and accepts connections when the constructor returns.
// The constructor throws if Squid is not installed.
class SquidProcess {
 public:
  // The one neighbour, at this port of 127.0.0.1, is a sibling that Squid asks by its digest alone,
  // or the parent that Squid asks for everything. `more`: further lines of the configuration.
  enum class Neighbour { sibling, parent };
  explicit SquidProcess(std::uint16_t neighbour_port, Neighbour neighbour = Neighbour::sibling,
                        const std::string& more = {});

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
