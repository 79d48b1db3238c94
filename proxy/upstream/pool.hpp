// Idle upstream connections, kept for further requests.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "proxy/net/stream.hpp"
#include "proxy/upstream/endpoint.hpp"

namespace proxy::upstream {

struct PoolLimits {
  std::size_t per_endpoint = 128;  // this many clients may need one origin at once
  std::size_t in_all = 512;
  std::chrono::milliseconds idle{
      60'000};  // servers close at about this age, and we should close first
};

// The idle connections of one thread. The Deadlines outlive it.
class Pool final : private net::Watched {
 public:
  explicit Pool(net::Deadlines& deadlines, PoolLimits limits = {});

  // Returns the most recently used connection that is quiet as far as this thread knows, or null.
  // The server may close it at any time, so a request that fails before any byte of a response says
  // nothing about the origin. The stream has no deadline.
  std::unique_ptr<net::Stream> take(const Endpoint& endpoint);

  // Whether take() has a connection to choose from. It may turn out to be closed.
  [[nodiscard]] bool has(const Endpoint& endpoint);

  // Keeps a connection that is between two messages. Beyond the limits the oldest ones are dropped.
  // A connection that the other side has closed, or sent bytes on, is dropped when it would be
  // taken.
  void give_back(const Endpoint& endpoint, std::unique_ptr<net::Stream> stream);

  // Closes all idle connections.
  void clear();
  [[nodiscard]] std::size_t size() const { return idle_.size(); }

 private:
  struct Idle {
    Endpoint endpoint;
    std::unique_ptr<net::Stream> stream;
    Clock::time_point until;
  };
  using Order = std::list<Idle>;

  void on_expiry() override;
  using Places = std::unordered_map<Endpoint, std::vector<Order::iterator>>;

  Places::value_type* find(const Endpoint& endpoint);
  Order::iterator place_last(const Endpoint& endpoint, std::unique_ptr<net::Stream> stream);
  void remove(Order::iterator place);
  void forget_unused_endpoints();
  void drop_oldest_of(const Endpoint& endpoint);
  void watch_oldest();

  net::Deadlines& deadlines_;
  PoolLimits limits_;
  Order idle_;   // oldest first
  Order spare_;  // places without a stream: a connection comes back for nearly every request
  // Oldest first. An endpoint without a place stays until there are too many such.
  Places places_;
  Places::value_type* last_ =
      nullptr;  // what find() has found; mostly, the next call wants it, too
};

}  // namespace proxy::upstream
