// Proxies that are neighbours of each other, each with a cache on disk, and what is done to them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "tests/soak/world.hpp"
#include "tests/support/proxy_process.hpp"
#include "tests/support/temporary_directory.hpp"

namespace soak {

struct Usage {
  std::uint64_t anonymous_bytes = 0;
  std::size_t descriptors = 0;
  std::size_t threads = 0;
};

// restart() and the destructor belong to the thread that made the fleet; the rest is for any.
class Fleet {
 public:
  static constexpr std::size_t kProxies = 3;

  // `stranger`: the port of one more neighbour of all proxies.
  explicit Fleet(std::uint16_t stranger);

  std::uint16_t port(std::size_t proxy) const { return listeners_[proxy].port(); }
  // Ends the proxy, by SIGTERM or by SIGKILL, and starts it again on the same socket.
  enum class End : std::uint8_t { asked, killed };
  void restart(std::size_t proxy, End how);
  // Whether the proxy was ended since, or is down.
  bool was_down_since(std::size_t proxy, Clock::time_point time) const;

  // The answer to POST of an administrator's page. For the thread that made the fleet.
  support::Response order(std::size_t proxy, std::string_view path, std::string_view body) const;

  Usage usage(std::size_t proxy) const;
  // Which part of the other proxies' digests this one uses, from 0 to 1. For the thread that made
  // the fleet.
  double digests_in_use(std::size_t proxy) const;
  // What this proxy tells of a neighbour. For the same thread.
  support::json books(std::size_t proxy, const std::string& neighbour) const;
  // What the proxies wrote to stderr.
  std::string complaints() const;

 private:
  void start(std::size_t proxy);
  support::json settings(std::size_t proxy) const;

  const std::uint16_t stranger_;
  support::TemporaryDirectory home_;
  std::array<support::Listener, kProxies> listeners_;
  std::array<std::unique_ptr<support::ProxyProcess>, kProxies> proxies_;
  std::array<std::atomic<bool>, kProxies> down_{};
  std::array<std::atomic<Clock::time_point>, kProxies> last_down_{};
};

}  // namespace soak
