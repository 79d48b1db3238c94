// Clients whose requests a page holds until it has something to send: the polls of neighbours that
// wait until our digest changes, and the watchers of the dashboard.
#pragma once

#include <boost/core/noncopyable.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/networks.hpp"
#include "proxy/net/wakeup.hpp"

namespace proxy::pages {

// The clients that wait now, on all threads, which this outlives. A client that waits costs a place
// here, its connection and one timer, but no thread. Any thread may call any function.
class WaitingClients {
 public:
  struct Limits {
    std::size_t all;
    std::size_t others;          // all that are no admins
    std::size_t of_one_address;  // that are no admins
  };
  // Polls beyond these are answered at once, as older Hearsays answer all. Several neighbours may
  // share an address.
  static constexpr Limits kPolls{1024, 1024, 128};
  // One place is kept for admins, whose dashboards are bounded by `all` alone.
  static constexpr Limits kWatchers{16, 15, 2};

  enum class Rank : std::uint8_t { other, admin };
  using News = std::shared_ptr<const std::string>;

  // One client that waits. Belongs to one coroutine of the executor.
  class Waiting : boost::noncopyable {
   public:
    Waiting(WaitingClients& all, const config::Address& from, Rank rank, net::Executor executor);
    ~Waiting();

    // Whether there is room for it. If not, there is nothing to wait for.
    [[nodiscard]] bool has_place() const { return has_place_; }
    // Waits for news that tell() has given since the last call, or since the construction. Of
    // several, returns the last. Null: `at_most` has passed, or wake_all() was called.
    net::Task<News> next(std::chrono::milliseconds at_most);

   private:
    friend class WaitingClients;

    WaitingClients& all_;
    const config::Address from_;
    const Rank rank_;
    net::Wakeup wakeup_;
    News news_;             // guarded by the mutex of all_
    const bool has_place_;  // last: once the client has it, it is woken
  };

  explicit WaitingClients(const Limits& limits) : limits_(limits) {}

  // Gives all clients news and wakes them. Admins get other news than the others.
  void tell(const News& to_admins, const News& to_others);
  // Wakes all clients without news, as the digest has changed or the proxy drains.
  void wake_all();
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] bool any_admin() const;

 private:
  bool admit(Waiting& client);

  const Limits limits_;
  mutable threads::Mutex mutex_;
  std::vector<Waiting*> clients_ GUARDED_BY(mutex_);
};

}  // namespace proxy::pages
