// Clients on loopback that send so many requests a second, whatever becomes of those before.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

struct SteadyPace {
  double rate = 10'000;              // requests a second
  std::size_t connections = 128;     // more requests than this are never under way
  std::size_t per_connection = 100;  // requests, then a new connection takes its place
};

struct Times {
  std::vector<double> ms;  // from the time a request was due to the end of its response; sorted
  std::size_t failed = 0;  // no connection, another status than 200, a cut body, or none for 10 s
  std::string first_failure;

  [[nodiscard]] double percentile(double percent) const;  // 0 if there are none
};

// Asks the proxy for the URLs of the numbers 0, 1, ... for so many seconds, and returns once all
// are answered. On the calling thread.
Times ask_steadily(std::uint16_t proxy, const std::function<std::string(std::size_t)>& url_of,
                   const SteadyPace& pace, double seconds);

}  // namespace bench
