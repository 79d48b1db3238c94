// How a request reached this proxy.
#pragma once

#include <cstdint>

namespace proxy {

// The role in which the client uses this proxy. It decides whether client or settings choose the
// origin.
enum class Arrival : std::uint8_t {
  forward,  // a proxy: the request's target names the origin
  reverse,  // the origin: the settings name the real one, or the request is for our own pages
};

}  // namespace proxy
