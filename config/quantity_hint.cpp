#include "config/quantity_hint.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "config/text.hpp"

namespace config {

namespace {

// A number such as "1.5" is 15 tenths: `digits` is 15 and `scale` is 10.
struct Written {
  std::uint64_t digits = 0;
  std::uint64_t scale = 1;
  std::string unit;  // in lower case; empty: none
};

struct Spelling {
  std::string_view written;  // in lower case
  std::string_view unit;     // as the settings write it
};

std::string_view without_blanks(std::string_view text) {
  const auto first = std::min(text.find_first_not_of(' '), text.size());
  text.remove_prefix(first);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::optional<Written> take_apart(std::string_view text) {
  constexpr std::uint64_t kMost = 1'000'000'000;
  text = without_blanks(text);
  const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto point = std::min(text.find('.'), end);
  std::string number(text.substr(0, point));
  Written written;
  if (point < end) {
    const auto fraction = text.substr(point + 1, end - point - 1);
    if (fraction.empty() || fraction.size() > 3) return std::nullopt;
    number += fraction;
    for (std::size_t i = 0; i < fraction.size(); ++i) written.scale *= 10;
  }
  const auto digits = parse_number(number, kMost);
  if (!digits) return std::nullopt;
  written.digits = *digits;
  written.unit = lower_case(without_blanks(text.substr(end)));
  return written;
}

// The number in this unit, or in one that is smaller by `step` if it is no whole number.
std::optional<std::string> spelled(const Written& written, std::string_view unit,
                                   std::uint64_t step, std::string_view smaller) {
  if (written.digits % written.scale == 0) {
    return std::to_string(written.digits / written.scale).append(unit);
  }
  const std::uint64_t in_smaller = written.digits * step;
  if (step == 0 || in_smaller % written.scale != 0) return std::nullopt;
  return std::to_string(in_smaller / written.scale).append(smaller);
}

// `quantity` is what `text` means.
template <class T>
std::string write(const std::string& text, const std::optional<T>& quantity,
                  const Range<T>& range) {
  return quantity && range.contains(*quantity) ? "; write " + in_quotes(text) : "";
}

template <class T>
std::string say_unit(const std::string& text, const std::optional<T>& quantity,
                     const Range<T>& range) {
  const bool fits = quantity && range.contains(*quantity);
  return fits ? "; say the unit: " + in_quotes(text) + " or another" : "; say the unit";
}

}  // namespace

std::string size_hint(std::string_view text, const Range<ByteSize>& range) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  const auto written = take_apart(text);
  if (!written) return {};
  const std::string& unit = written->unit;
  if (unit.empty()) {
    if (written->scale != 1) return {};
    const auto size = std::to_string(written->digits) + "MiB";
    return say_unit(size, parse_bytes(size), range);
  }
  constexpr std::string_view kPrefixes = "bkmgt";
  const auto power = kPrefixes.find(unit.front());
  if (power == kPrefixes.npos) return {};
  const std::string_view rest = std::string_view(unit).substr(1);
  const bool known = power == 0 ? rest.empty() || rest == "yte" || rest == "ytes"
                                : rest.empty() || rest == "b" || rest == "ib";
  if (!known) return {};
  const auto exact =
      spelled(*written, kUnits[power], power > 0 ? 1024 : 0, kUnits[power > 0 ? power - 1 : 0]);
  return exact ? write(*exact, parse_bytes(*exact), range) : "";
}

std::string duration_hint(std::string_view text, const Range<std::chrono::milliseconds>& range) {
  constexpr std::array kSpellings{
      Spelling{"ms", "ms"},     Spelling{"msec", "ms"},   Spelling{"milliseconds", "ms"},
      Spelling{"s", "s"},       Spelling{"sec", "s"},     Spelling{"secs", "s"},
      Spelling{"second", "s"},  Spelling{"seconds", "s"}, Spelling{"m", "m"},
      Spelling{"min", "m"},     Spelling{"mins", "m"},    Spelling{"minute", "m"},
      Spelling{"minutes", "m"}, Spelling{"h", "h"},       Spelling{"hr", "h"},
      Spelling{"hour", "h"},    Spelling{"hours", "h"},   Spelling{"d", "d"},
      Spelling{"day", "d"},     Spelling{"days", "d"},    Spelling{"w", "w"},
      Spelling{"week", "w"},    Spelling{"weeks", "w"}};
  const auto written = take_apart(text);
  if (!written) return {};
  const std::string& unit = written->unit;
  if (unit.empty()) {
    const auto seconds = spelled(*written, "s", 1000, "ms");
    return seconds ? say_unit(*seconds, parse_duration(*seconds), range) : "";
  }
  if (unit == "y" || unit == "year" || unit == "years") {
    const auto days = std::to_string(written->digits * 365 / written->scale) + "d";
    return write(days, parse_duration(days), range);
  }
  const auto* const found =
      std::find_if(kSpellings.begin(), kSpellings.end(),
                   [&](const Spelling& spelling) { return spelling.written == unit; });
  if (found == kSpellings.end()) return {};
  constexpr std::array<std::string_view, 6> kUnits{"ms", "s", "m", "h", "d", "w"};
  constexpr std::array<std::uint64_t, 6> kSteps{0, 1000, 60, 60, 24, 7};
  const auto at = static_cast<std::size_t>(std::find(kUnits.begin(), kUnits.end(), found->unit) -
                                           kUnits.begin());
  const auto exact = spelled(*written, found->unit, kSteps[at], kUnits[at > 0 ? at - 1 : 0]);
  return exact ? write(*exact, parse_duration(*exact), range) : "";
}

}  // namespace config
