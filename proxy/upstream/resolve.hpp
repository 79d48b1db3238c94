// Resolves names without blocking, by c-ares and a cache. Callers that ask for one name at the same
// time share one query.
#pragma once

#include <boost/core/noncopyable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/expiring_table.hpp"
#include "digest/keyed_hash.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/upstream/endpoint.hpp"
#include "proxy/upstream/name_health.hpp"

struct ares_channeldata;

namespace proxy::upstream {

struct Resolved {
  Addresses addresses;  // at least one, no duplicates
  std::chrono::seconds ttl{0};
};

// What happens if a name server refuses or fails a question.
enum class OnRefusal {
  ask_next,  // the next server is asked; if all refuse, that looks as if none could be reached
  tell,      // the answer is Errc::resolver_refused
};

// Runs c-ares on an io_context: waits for its sockets and keeps its time-outs. For the Resolver.
class AresChannel : boost::noncopyable {
 public:
  using OnAnswer = std::function<void(net::Result<Resolved>)>;

  // `servers` has the format of ares_set_servers_ports_csv; empty: the system's.
  AresChannel(net::Executor executor, const std::string& servers,
              OnRefusal on_refusal = OnRefusal::ask_next);
  ~AresChannel();

  // Calls `answered` exactly once: perhaps before ask() returns, at the latest in the destructor.
  void ask(const std::string& name, OnAnswer answered);
  // The addresses of the servers.
  [[nodiscard]] std::vector<std::string> servers() const;

 private:
  enum class Direction { read, write };
  struct Wanted {
    bool read;
    bool write;
  };
  struct Watch;

  void socket_changed(int fd, Wanted wanted);
  void wait(const std::shared_ptr<Watch>& watch, Direction direction);
  void keep_time();

  net::Timer timer_;
  std::unordered_map<int, std::shared_ptr<Watch>> watches_;  // c-ares owns and closes the sockets
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // handlers may outlive us
  ares_channeldata* channel_ = nullptr;
};

struct ResolverOptions {
  std::string servers;              // "127.0.0.1:5353,..."; empty: those of /etc/resolv.conf
  std::size_t cached_names = 4096;  // beyond it, the answer that ends first is dropped
  NameHealth* health = nullptr;     // is told whether the servers answer; null: nobody is
};

// Resolves names. Each thread has its own: use and destroy it on that thread, before its
// io_context. The destructor ends waiting calls with Errc::resolver_failed.
class Resolver : boost::noncopyable {
 public:
  static constexpr std::chrono::milliseconds kTimeout{5000};
  // While the name servers do not answer, probes ask them for what each of them must know. This is
  // the pause between a question and the first probe, and between two probes. Another name server
  // gets the question earlier if the first one is silent.
  static constexpr std::chrono::milliseconds kProbePause{1250};

  // The clock outlives the Resolver. Throws boost::system::system_error if c-ares cannot start.
  Resolver(net::Executor executor, machine::Clock& clock, ResolverOptions options = {});
  ~Resolver();

  // Returns at least one address, in the order of the answer and without duplicates, or an Errc. An
  // address resolves to itself, or to IPv4 if it is IPv4-mapped. Uses /etc/hosts and the search
  // list. Answers are kept for their TTL (1 s to 5 min), failures for 1 s. A query continues after
  // its caller's time-out, and a late answer serves later callers.
  net::Task<net::Result<Addresses>> resolve(std::string host,
                                            std::chrono::milliseconds timeout = kTimeout);

 private:
  struct Query;
  class Probe;
  using Answer = net::Result<Addresses>;

  std::shared_ptr<Query> join(const std::string& name);
  void ask(const std::string& name, const std::shared_ptr<Query>& query);
  void finish(const std::string& name, net::Result<Resolved> found);

  net::Executor executor_;
  machine::Clock& clock_;
  config::ExpiringTable<std::string, Answer, digest::TextHash> cache_;
  std::unordered_map<std::string, std::shared_ptr<Query>, digest::TextHash> pending_;
  std::unique_ptr<Probe> probe_;  // null: nobody is told
  AresChannel channel_;           // last: its destructor completes pending queries
};

}  // namespace proxy::upstream
