// Warnings of shortages, for the operator.
#pragma once

#include <array>
#include <cstdint>

#include "proxy/crowd/pressure.hpp"

namespace proxy {

enum class Shortage : std::uint8_t { memory, heads, connections, descriptors };

// Writes each warning to the log at most once a minute, in plain words. Any thread.
class Warnings {
 public:
  void warn(Shortage what);

 private:
  std::array<LastTime, 4> warned_;
};

}  // namespace proxy
