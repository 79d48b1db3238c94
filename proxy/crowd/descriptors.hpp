// How many of the process's file descriptors clients may take. Pure.
#pragma once

#include <algorithm>
#include <cstddef>

namespace proxy {

struct DescriptorLimits {
  std::size_t connections = 0;  // of clients
  // A socket with this number or a higher one shows that the rest is nearly gone, as the system
  // always gives the lowest number that is free.
  std::size_t scarce_from = 0;
};

// `all`: the limit of the process. `files`: the most that the disk may open. Each connection of a
// client may need a second one, to an origin. The last eighth is for the disk, origins and own
// pages.
constexpr DescriptorLimits descriptor_limits(std::size_t all, std::size_t files) {
  const auto left = all - std::min(all / 2, files);
  return {.connections = std::max<std::size_t>(1, left / 2), .scarce_from = all - all / 8};
}

}  // namespace proxy
