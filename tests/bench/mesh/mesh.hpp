// Proxies that are all neighbours of each other, and their origin.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/proxy_process.hpp"
#include "tests/support/scripted_origin.hpp"
#include "tests/support/temporary_directory.hpp"

namespace bench {

struct MeshSettings {
  std::size_t proxies = 4;
  std::string memory = "1GiB";          // of each proxy
  std::string disk;                     // of each proxy, such as "1GiB"; empty: none
  std::string more;                     // settings as JSON that replace those of each proxy
  std::chrono::milliseconds to_origin;  // the time that the origin takes to answer
  std::size_t body = 0;                 // bytes, on average
};

// What all proxies hold together.
struct Held {
  std::size_t entries = 0;
  std::size_t at_several = 0;         // those of them whose URL another proxy holds, too
  std::uint64_t bytes_per_entry = 0;  // of memory, the bookkeeping included
};

class Mesh {
 public:
  explicit Mesh(const MeshSettings& settings);

  std::size_t size() const { return listeners_.size(); }
  std::uint16_t port(std::size_t proxy) const { return listeners_[proxy].port(); }
  std::string url(std::size_t number) const;
  std::string body(std::size_t number) const;
  std::size_t origin_requests() const { return origin_requests_; }

  // Ends the proxy by SIGKILL and starts it again with its disk. Connections to its port wait
  // meanwhile. Only the thread that made the mesh may call this.
  void restart(std::size_t proxy);
  // Odd from when a proxy is about to be killed until it serves again, and even else. A connection
  // that was opened before the last change may be cut. Any thread.
  unsigned life(std::size_t proxy) const { return lives_[proxy]; }

  // Only the thread that made the mesh may call these.
  Held held() const;
  void print_peers() const;

 private:
  support::json settings_of(std::size_t self) const;
  void begin(std::size_t proxy);

  const MeshSettings settings_;
  std::atomic<std::size_t> origin_requests_ = 0;
  support::ScriptedOrigin origin_;
  std::deque<support::Listener> listeners_;
  std::deque<support::TemporaryDirectory> disks_;
  std::deque<std::atomic<unsigned>> lives_;
  std::vector<std::unique_ptr<support::ProxyProcess>> proxies_;
};

}  // namespace bench
