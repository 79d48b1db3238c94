// Keeps answers of name servers until they expire.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "digest/keyed_hash.hpp"
#include "proxy/net/asio.hpp"

namespace proxy::upstream {

using Addresses = std::vector<boost::asio::ip::address>;

// Bounded: a new answer replaces the oldest one.
class NameCache {
 public:
  using Clock = std::chrono::steady_clock;
  using Answer = net::Result<Addresses>;

  explicit NameCache(std::size_t capacity) : capacity_(capacity) {}

  // Returns the answer for the name; null if there is none or it has expired. Valid until the next
  // put().
  [[nodiscard]] const Answer* find(std::string_view name, Clock::time_point now) const;
  // Replaces the answer for the name.
  void put(std::string name, Answer answer, Clock::time_point until);

 private:
  struct Entry {
    std::string name;
    Answer answer;
    Clock::time_point until;
  };
  using Entries = std::list<Entry>;

  void erase(Entries::iterator entry);

  std::size_t capacity_;
  Entries entries_;  // oldest first
  // The keys are views into entries_.
  std::unordered_map<std::string_view, Entries::iterator, digest::TextHash> by_name_;
};

}  // namespace proxy::upstream
