// How a request reached this proxy.
#pragma once

#include <cstdint>

namespace proxy {

// For whom the client takes this proxy; so it tells who chose the origin.
enum class Arrival : std::uint8_t {
  forward,  // for a proxy: the request's target names the origin
  reverse,  // for the origin: the settings name the real one, or the request is for our own pages
};

}  // namespace proxy
