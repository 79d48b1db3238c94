// How many of the process's file descriptors clients and their requests may take. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "config/settings.hpp"

namespace proxy::crowd {

struct DescriptorLimits {
  std::size_t connections = 0;  // of clients
  // A socket with this number or a higher one shows that the rest is nearly gone, as the system
  // always gives the lowest number that is free. No such socket goes to an origin or a neighbour.
  std::size_t scarce_from = 0;
  // How many connections may wait for room, outside `connections`.
  std::size_t newcomers = 0;
};

// `all`: the limit of the process. `files`: the most that the disk may open. Each connection of a
// client may need a second one, to an origin. The last eighth is for the disk, our own pages, and
// newcomers until they are refused.
constexpr DescriptorLimits descriptor_limits(std::size_t all, std::size_t files) {
  const auto scarce_from = all - all / 8;
  const auto connections = (scarce_from - std::min(all / 2, files)) / 2;
  return {.connections = std::max<std::size_t>(1, connections),
          .scarce_from = scarce_from,
          .newcomers = std::clamp<std::size_t>(connections / 8, 8, 1024)};
}

inline constexpr std::size_t kEnoughConnections = 1'000;

// The least limit of the process with which the disk may open all of its files, and
// kEnoughConnections clients have room.
constexpr std::size_t descriptors_for(std::size_t files) {
  const auto for_clients = (files + 2 * kEnoughConnections) * 8 / 7 + 1;
  return std::max(2 * files, for_clients);
}

// Why the descriptors do not suffice, in one line for a person. Nothing: they are enough for
// limits.connections, or for kEnoughConnections if that setting has its default, and for the disk.
std::optional<std::string> descriptor_shortage(const config::Limits& limits, std::size_t all,
                                               std::size_t files);

}  // namespace proxy::crowd
