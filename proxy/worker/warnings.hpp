// Warnings of shortages, for the operator.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "proxy/crowd/pressure.hpp"

namespace proxy {

enum class Shortage : std::uint8_t { memory, heads, connections, descriptors };
inline constexpr std::array kShortages{Shortage::memory, Shortage::heads, Shortage::connections,
                                       Shortage::descriptors};
std::string_view word(Shortage what);  // "memory"
std::string_view text(Shortage what);  // for a person: what happens, and what helps

// Writes each warning to the log at most once a minute, in plain words. Any thread.
class Warnings {
 public:
  void warn(Shortage what);
  // Whether there was a shortage in the last minute.
  [[nodiscard]] bool lately(Shortage what, LastTime::Clock::time_point now) const {
    return short_[static_cast<std::size_t>(what)].within(kLately, now);
  }

 private:
  static constexpr std::chrono::minutes kLately{1};

  std::array<LastTime, kShortages.size()> warned_;
  std::array<LastTime, kShortages.size()> short_;
};

}  // namespace proxy
