// Hours of the week, as settings name them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace config {

// Minutes of some days of the week. If `begin` is not before `end`, the time begins on these days
// and ends on the day after each.
struct WeeklyTime {
  static constexpr unsigned kMinutes = 24 * 60;  // of a day

  std::uint8_t days = 0x7f;  // bit 0 is Monday
  std::uint16_t begin = 0;   // minutes after midnight
  std::uint16_t end = kMinutes;

  // Whether the time is within the span. `day`: 0 is Monday. `minute`: of the day. Pure.
  [[nodiscard]] bool contains(unsigned day, unsigned minute) const;

  bool operator==(const WeeklyTime&) const = default;
};

// "mon-fri 08:00-18:00", "sat,sun", "22:00-06:00": days, a range of hours, or both. Days are lists
// of days and ranges of days, which may pass Sunday ("sat-mon"). Hours count from 00:00 to 24:00.
std::optional<WeeklyTime> parse_weekly_time(std::string_view text);

}  // namespace config
