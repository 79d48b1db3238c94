#include "config/weekly_time.hpp"

#include <algorithm>
#include <array>

#include "config/text.hpp"

namespace config {

namespace {

constexpr std::array<std::string_view, 7> kDays{"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

std::optional<unsigned> parse_day(std::string_view text) {
  const auto word = lower_case(text);
  const auto* const found = std::find(kDays.begin(), kDays.end(), word);
  if (found == kDays.end()) return std::nullopt;
  return static_cast<unsigned>(found - kDays.begin());
}

// Returns the days as bits.
std::optional<unsigned> parse_day_range(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = parse_day(text.substr(0, dash));
  const auto last = dash == text.npos ? first : parse_day(text.substr(dash + 1));
  if (!first || !last) return std::nullopt;
  unsigned days = 1U << *first;
  // By steps, since a range may pass Sunday.
  for (auto day = *first; day != *last;) {
    day = (day + 1) % 7;
    days |= 1U << day;
  }
  return days;
}

std::optional<std::uint8_t> parse_days(std::string_view text) {
  unsigned days = 0;
  for (bool more = true; more;) {
    const auto comma = text.find(',');
    const auto range = parse_day_range(text.substr(0, comma));
    if (!range) return std::nullopt;
    days |= *range;
    more = comma != text.npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return static_cast<std::uint8_t>(days);
}

std::optional<std::uint16_t> parse_minute(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  const auto hours = parse_number(text.substr(0, 2), 24);
  const auto minutes = parse_number(text.substr(3), 59);
  if (!hours || !minutes || *hours * 60 + *minutes > WeeklyTime::kMinutes) return std::nullopt;
  return static_cast<std::uint16_t>(*hours * 60 + *minutes);
}

bool parse_hours(std::string_view text, WeeklyTime& into) {
  const auto begin = parse_minute(text.substr(0, text.find('-')));
  const auto end = text.size() == 11 ? parse_minute(text.substr(6)) : std::nullopt;
  // Equal times could mean all day or never, so they are refused.
  if (!begin || !end || *begin == *end || *begin == WeeklyTime::kMinutes) return false;
  into.begin = *begin;
  into.end = *end;
  return true;
}

}  // namespace

bool WeeklyTime::contains(unsigned day, unsigned minute) const {
  const auto begins_on = [this](unsigned which) { return (days >> which & 1) != 0; };
  if (begin < end) return begins_on(day) && begin <= minute && minute < end;
  // After midnight it is still the time that began the day before.
  return (begins_on(day) && begin <= minute) || (begins_on((day + 6) % 7) && minute < end);
}

std::optional<WeeklyTime> parse_weekly_time(std::string_view text) {
  WeeklyTime time;
  const auto blank = text.find(' ');
  const bool has_hours = text.find(':') != text.npos;
  if (!has_hours || blank != text.npos) {
    const auto days = parse_days(text.substr(0, blank));
    if (!days || (blank != text.npos && !has_hours)) return std::nullopt;
    time.days = *days;
  }
  if (!has_hours) return time;
  const auto hours = blank == text.npos ? text : text.substr(blank + 1);
  if (!parse_hours(hours, time)) return std::nullopt;
  return time;
}

}  // namespace config
