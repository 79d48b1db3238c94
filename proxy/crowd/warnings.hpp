// Warnings of shortages, for the operator.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "proxy/crowd/pressure.hpp"

namespace proxy::crowd {

enum class Shortage : std::uint8_t { memory, heads, connections, descriptors };
inline constexpr std::array kShortages{Shortage::memory, Shortage::heads, Shortage::connections,
                                       Shortage::descriptors};
std::string_view word(Shortage what);  // "memory"
std::string_view text(Shortage what);  // for a person: what happens, and what helps

// Writes each warning to the log at most once a minute, in plain words, and a line when the
// shortage is over: when there was none for a minute. Any thread.
class Warnings {
 public:
  using Time = LastTime::Clock::time_point;

  void warn(Shortage what, Time now);
  // Whether there was a shortage in the last minute.
  [[nodiscard]] bool lately(Shortage what, Time now) const {
    return short_[static_cast<std::size_t>(what)].within(kLately, now);
  }
  // The time of the latest shortage of this kind; Time::min() if there was none.
  [[nodiscard]] Time last(Shortage what) const {
    return short_[static_cast<std::size_t>(what)].last();
  }
  // The shortages that are over, each of which was warned of. Names each once.
  std::vector<Shortage> ended(Time now);
  // Writes to the log which are over. Call it now and then.
  void say_ended(Time now);

 private:
  static constexpr std::chrono::minutes kLately{1};

  std::array<LastTime, kShortages.size()> warned_;
  std::array<LastTime, kShortages.size()> short_;
  std::array<std::atomic<bool>, kShortages.size()> goes_on_{};  // was warned of, and is not over
};

}  // namespace proxy::crowd
