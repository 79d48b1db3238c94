// Proxies on loopback that are all neighbours of each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/proxy_process.hpp"
#include "tests/support/temporary_directory.hpp"

namespace bench {

// The defaults, except what a bench on loopback needs.
support::json mesh_settings(const std::string& name, const support::json& peers);

support::json peer(const std::string& name, std::uint16_t port);

struct MeshOf {
  std::size_t proxies = 0;
  std::size_t dead = 0;        // neighbours more of each, at whose ports nobody listens
  bool are_neighbours = true;  // else each is alone
  bool have_disks = false;
};

// Proxies "0", "1", ... The constructor returns once all use the digests of all others.
class FullMesh {
 public:
  explicit FullMesh(const MeshOf& of);

  std::size_t size() const { return proxies_.size(); }
  std::uint16_t port(std::size_t proxy) const { return ports_[proxy].port(); }
  support::ChildProcess& process(std::size_t proxy) { return proxies_[proxy]->process(); }
  // Ends the proxy by SIGKILL, and starts it again.
  void kill(std::size_t proxy);
  void start(std::size_t proxy);
  // Returns once all use the digests of all others.
  void await_complete() const;

 private:
  bool is_complete() const;

  const MeshOf of_;
  std::deque<support::ReservedPort> ports_;
  std::deque<support::ReservedPort> dead_;
  std::deque<support::TemporaryDirectory> disks_;
  std::vector<std::unique_ptr<support::ProxyProcess>> proxies_;
};

}  // namespace bench
