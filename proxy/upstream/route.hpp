// The ways to an origin: through parents, directly, or both; and to several servers of one content.
#pragma once

#include <atomic>
#include <bitset>
#include <boost/container/small_vector.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "proxy/upstream/endpoint.hpp"

namespace proxy::upstream {

// Chooses among several servers with the same content. Prefers the first server that works. A
// server that failed is skipped for kRest. Then a single request tries it, and others use it only
// after it has answered. Any thread.
class Origins {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kRest{10};
  static constexpr std::size_t kMost = 32;
  using Tried = std::bitset<kMost>;

  // Takes 1 to kMost servers.
  explicit Origins(std::vector<Endpoint> servers);

  enum class AtRest : std::uint8_t {
    last,     // servers that rest are chosen last
    skipped,  // they are not chosen
  };
  // Chooses an untried server and marks it as tried. If all untried servers rest, chooses the one
  // that has rested longest. Returns nothing if all have been tried.
  std::optional<std::size_t> next(Tried& tried, Clock::time_point now) {
    return next(tried, now, all_, AtRest::last);
  }
  // Chooses the next server among those that `order` names.
  std::optional<std::size_t> next(Tried& tried, Clock::time_point now,
                                  std::span<const std::size_t> order, AtRest at_rest);
  void failed(std::size_t server, Clock::time_point now) {
    states_[server].rests_until = ticks(now + kRest);
  }
  void worked(std::size_t server, Clock::time_point now);
  // Records that the server did not answer a request sent at `asked`. This counts as a failure
  // unless the server has answered another request since: then the request is slow, not the server.
  void silent_since(Clock::time_point asked, std::size_t server, Clock::time_point now) {
    if (states_[server].answered < ticks(asked)) failed(server, now);
  }

  const Endpoint& operator[](std::size_t server) const { return servers_[server]; }
  [[nodiscard]] std::size_t size() const { return servers_.size(); }
  [[nodiscard]] bool rests(std::size_t server, Clock::time_point now) const {
    return states_[server].rests_until > ticks(now);
  }
  // Whether the server has failed, and has not answered since.
  [[nodiscard]] bool in_doubt(std::size_t server) const { return states_[server].rests_until != 0; }

 private:
  using Ticks = Clock::rep;
  static Ticks ticks(Clock::time_point time) { return time.time_since_epoch().count(); }

  bool available(std::size_t server, Clock::time_point now);

  const std::vector<Endpoint> servers_;
  const std::vector<std::size_t> all_;  // their numbers, in order
  struct State {
    std::atomic<Ticks> rests_until{0};  // 0: works, as far as we know
    std::atomic<Ticks> answered{0};     // time of the last answer
  };
  std::unique_ptr<State[]> states_;
};

// Another proxy that fetches from origins for us.
struct Parent {
  std::string name;  // for people
  Endpoint at;
  std::string authorization;  // the value of Proxy-Authorization; empty: none
};

// All parents, with their live state, which alone changes. Any thread may use it.
class Parents {
 public:
  // Takes at most Origins::kMost parents.
  explicit Parents(std::vector<Parent> list);

  [[nodiscard]] std::size_t size() const { return list_.size(); }
  const Parent& operator[](std::size_t number) const { return list_[number]; }
  // Which of them rest, by their numbers.
  Origins& live() { return *live_; }

  // Requests that were sent to the parent, and those of them that it has failed.
  struct Counts {
    std::atomic<std::uint64_t> requests{0};
    std::atomic<std::uint64_t> failures{0};
  };
  Counts& counts(std::size_t number) { return counts_[number]; }

 private:
  const std::vector<Parent> list_;
  const std::unique_ptr<Origins> live_;  // null: there is no parent
  const std::unique_ptr<Counts[]> counts_;
};

// The servers that may be asked for one URL, in this order. A value.
struct Route {
  std::shared_ptr<Parents> parents = nullptr;                 // null: none may be asked
  boost::container::small_vector<std::size_t, 4> order = {};  // the parents' numbers
  bool direct = true;                                         // whether the origin comes after them
  // Scheme and authority of the URL, which begin the target of a request to a parent. Empty: the
  // target is complete (CONNECT).
  std::string site = {};

  [[nodiscard]] bool has_parents() const { return !order.empty(); }
  // Whether nobody may be asked.
  [[nodiscard]] bool leads_nowhere() const { return !direct && !has_parents(); }
  // Whether there is a parent, and another server to ask if that one is silent.
  [[nodiscard]] bool has_choice() const { return has_parents() && (direct || order.size() > 1); }
  // Whether the parent to ask first has failed, and has not answered since.
  [[nodiscard]] bool begins_in_doubt(Origins::Clock::time_point now) const;
};

}  // namespace proxy::upstream
