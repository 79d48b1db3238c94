// One thread's state for measuring false misses; see sources/sampling.hpp.
#pragma once

#include <cstddef>
#include <random>

namespace proxy {

// Belongs to one thread.
struct Probes {
  static constexpr std::size_t kMostAtOnce = 16;  // probes; further ones are not sent

  std::minstd_rand random{std::random_device{}()};
  std::size_t running = 0;
};

}  // namespace proxy
