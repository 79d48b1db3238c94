// A client that sends each request when it is due, whatever became of those before.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/message.hpp"

namespace bench {

// The body of a path, different for each path. A number after a dot in the path is its size in
// bytes; without one it has 2 KiB.
std::string body_of(const std::string& path);

struct Sample {
  std::chrono::steady_clock::time_point due;
  std::chrono::steady_clock::time_point ended;
  double ms = 0;  // from the time it was due to the end of its body
  bool failed = false;
  bool wrong = false;  // another body than body_of()
  std::string giver;   // the neighbour that gave it, as the proxy says; empty: none
};

struct Pace {
  double rate = 40;           // requests a second
  std::size_t burst = 1;      // so many are due at the same time
  std::size_t clients = 128;  // more requests than this are never under way
};

// The neighbour that gave the response, as its Cache-Status says; empty: none.
std::string giver_of(const support::Response& response);

// The fields to send with the request of this number.
using FieldsFor = std::function<support::Fields(std::size_t number)>;

// Asks a proxy for URLs. Each request has a connection that no other waits for.
std::vector<Sample> ask_openly(std::uint16_t proxy, const std::vector<std::string>& urls, Pace pace,
                               const FieldsFor& fields_for = {});

struct Figures {
  double p50 = 0;
  double p98 = 0;
  double p99 = 0;
  double max = 0;
  std::size_t over_100_ms = 0;
  std::size_t wrong = 0;
  std::size_t failed = 0;
};

// The times in milliseconds.
Figures figures_of(const std::vector<Sample>& samples);

}  // namespace bench
