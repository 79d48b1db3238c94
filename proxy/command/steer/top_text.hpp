// The difference between two looks at /metrics. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/command/steer/samples.hpp"

namespace proxy::command {

struct Rates {
  double requests = 0;              // per second, without those for our own pages
  std::optional<double> hits;       // the share of them that the cache answered
  std::optional<double> byte_hits;  // the share of body bytes that came from the cache
  double to_clients = 0;            // bytes per second
  double from_neighbours = 0;       // likewise
  double from_origins = 0;          // likewise; parents that fetched for us included
  std::optional<double> median;     // seconds to the first byte, if the page has a histogram
  double connections = 0;
  struct Peer {
    std::string name;
    double true_hits = 0;  // per second
    double saved = 0;      // bytes per second
  };
  std::vector<Peer> peers;  // the busiest first
};

// `own_bytes`: of those sent meanwhile, how many were sent to the one who looks.
Rates rates_between(const Samples& before, const Samples& after,
                    std::chrono::duration<double> passed, std::uint64_t own_bytes = 0);

// In lines of at most 38 columns, for a phone.
std::string top_text(const Rates& rates);
// One line with one JSON object.
std::string top_json(const Rates& rates);

}  // namespace proxy::command
