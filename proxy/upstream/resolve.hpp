// Names to addresses, without blocking: c-ares, a cache, and one query for all who ask at once.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <unordered_map>

#include "proxy/net/asio.hpp"
#include "proxy/upstream/ares_channel.hpp"
#include "proxy/upstream/name_cache.hpp"

namespace proxy::upstream {

struct ResolverOptions {
  std::string servers;              // "127.0.0.1:5353,..."; empty: those of /etc/resolv.conf
  std::size_t cached_names = 4096;  // the oldest answers make room
};

// One per thread; used and destroyed on it, before its io_context. Whoever waits when it is
// destroyed gets Errc::resolver_failed.
class Resolver {
 public:
  static constexpr std::chrono::milliseconds kTimeout{5000};

  // Throws boost::system::system_error where c-ares cannot start.
  explicit Resolver(net::Executor executor, ResolverOptions options = {});
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  ~Resolver();

  // At least one address, in the order of the answer, none twice; or an Errc. An address is its own
  // answer (IPv4-mapped ones as IPv4). /etc/hosts and the search list are heeded. Answers are kept
  // for their TTL (1 s to 5 min), failures for 1 s. A query goes on after the asker's time-out: a
  // late answer serves the next asker.
  net::Task<net::Result<Addresses>> resolve(std::string host,
                                            std::chrono::milliseconds timeout = kTimeout);

 private:
  struct Query;

  std::shared_ptr<Query> join(const std::string& name);
  void finish(const std::string& name, net::Result<Resolved> found);

  net::Executor executor_;
  NameCache cache_;
  std::unordered_map<std::string, std::shared_ptr<Query>> pending_;
  AresChannel channel_;  // last: its destructor finishes what is pending
};

}  // namespace proxy::upstream
