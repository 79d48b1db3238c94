// Resolves names without blocking, by c-ares and a cache. Callers that ask for one name at the same
// time share one query.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <unordered_map>

#include "config/expiring_table.hpp"
#include "digest/keyed_hash.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/upstream/ares_channel.hpp"
#include "proxy/upstream/name_probe.hpp"

namespace proxy::upstream {

struct ResolverOptions {
  std::string servers;              // "127.0.0.1:5353,..."; empty: those of /etc/resolv.conf
  std::size_t cached_names = 4096;  // beyond this the oldest answers are dropped
  NameHealth* health = nullptr;     // is told whether the servers answer; null: nobody is
};

// One per thread. Use and destroy it on that thread, before its io_context. The destructor ends
// waiting calls with Errc::resolver_failed.
class Resolver {
 public:
  static constexpr std::chrono::milliseconds kTimeout{5000};

  // Throws boost::system::system_error if c-ares cannot start.
  explicit Resolver(net::Executor executor, ResolverOptions options = {});
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  ~Resolver();

  // Returns at least one address, in the order of the answer and without duplicates, or an Errc. An
  // address resolves to itself, or to IPv4 if it is IPv4-mapped. Uses /etc/hosts and the search
  // list. Answers are kept for their TTL (1 s to 5 min), failures for 1 s. A query continues after
  // its caller's time-out, and a late answer serves later callers.
  net::Task<net::Result<Addresses>> resolve(std::string host,
                                            std::chrono::milliseconds timeout = kTimeout);

 private:
  struct Query;
  using Answer = net::Result<Addresses>;

  std::shared_ptr<Query> join(const std::string& name);
  void ask(const std::string& name, const std::shared_ptr<Query>& query);
  void note(const std::string& name, const Answer& answer);
  void finish(const std::string& name, net::Result<Resolved> found);

  net::Executor executor_;
  config::ExpiringTable<std::string, Answer, digest::TextHash> cache_;
  std::unordered_map<std::string, std::shared_ptr<Query>, digest::TextHash> pending_;
  std::unique_ptr<NameProbe> probe_;  // null: nobody is told
  AresChannel channel_;               // last: its destructor completes pending queries
};

}  // namespace proxy::upstream
