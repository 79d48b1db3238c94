#include "proxy/observe/clock_watch.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "config/text.hpp"

namespace proxy {

std::string step_text(const machine::ClockStep& step) {
  const auto by = std::chrono::round<std::chrono::seconds>(std::chrono::abs(step.by));
  return fmt::format("the clock of this machine was set {} by {}",
                     step.by < step.by.zero() ? "back" : "ahead", config::rough_text(by));
}

std::string doubt_text(const machine::ClockStep& last, machine::Clock::Time now) {
  const auto ago =
      std::max(std::chrono::ceil<std::chrono::seconds>(now - last.seen), std::chrono::seconds(1));
  return fmt::format("{}, {} ago: the ages of responses that were stored before are doubtful",
                     step_text(last), config::rough_text(ago));
}

void say_step(const machine::ClockStep& step) {
  spdlog::warn(
      "{}: ages go on by the time that passes; if the clock is wrong now, set it (timedatectl, "
      "chrony)",
      step_text(step));
}

void say_ages_right() {
  spdlog::info("the ages of stored responses are not doubtful any more after the clock was set");
}

}  // namespace proxy
