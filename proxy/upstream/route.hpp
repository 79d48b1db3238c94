// The way to an origin: through parents, directly, or both.
#pragma once

#include <atomic>
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proxy/upstream/origins.hpp"

namespace proxy::upstream {

// Another proxy that fetches from origins for us.
struct Parent {
  std::string name;  // for people
  Endpoint at;
  std::string authorization;  // the value of Proxy-Authorization; empty: none
};

// All parents, with their live state. Immutable but for that. Any thread.
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
