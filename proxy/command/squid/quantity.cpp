#include "proxy/command/squid/quantity.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "config/text.hpp"

namespace proxy::command::squid {
namespace {

constexpr std::uint64_t kMost = 1ULL << 50;

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array kSizes{Unit{"bytes", 1}, Unit{"b", 1}, Unit{"kb", 1 << 10},
                            Unit{"mb", 1 << 20}, Unit{"gb", 1 << 30}};
constexpr std::array kTimes{
    Unit{"millisecond", 1},           Unit{"second", 1'000},        Unit{"minute", 60'000},
    Unit{"hour", 3'600'000},          Unit{"day", 86'400'000},      Unit{"week", 604'800'000},
    Unit{"fortnight", 1'209'600'000}, Unit{"month", 2'592'000'000}, Unit{"year", 31'536'000'000}};

// A number, perhaps with tenths and so on, times the unit that follows it.
template <std::size_t N>
std::optional<std::uint64_t> quantity_of(const std::vector<Word>& words, std::size_t at,
                                         const std::array<Unit, N>& units, std::uint64_t unit) {
  if (at >= words.size()) return std::nullopt;
  const std::string& text = words[at].text;
  const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = config::parse_number(text.substr(0, end), kMost);
  if (!number) return std::nullopt;
  std::string name = config::lower_case(text.substr(end));
  if (name.empty() && at + 1 < words.size()) name = config::lower_case(words[at + 1].text);
  const auto* const found = std::find_if(units.begin(), units.end(), [&](const Unit& each) {
    return name == each.name || name == std::string(each.name) + 's';
  });
  if (found != units.end()) unit = found->factor;
  if (found == units.end() && end < text.size()) return std::nullopt;
  return *number > kMost / std::max<std::uint64_t>(unit, 1) ? std::nullopt
                                                            : std::optional(*number * unit);
}

}  // namespace

std::optional<config::ByteSize> size_of(const std::vector<Word>& words, std::size_t at,
                                        std::uint64_t unit) {
  const auto size = quantity_of(words, at, kSizes, unit);
  return size ? std::optional(config::ByteSize{*size}) : std::nullopt;
}

std::optional<std::chrono::milliseconds> time_of(const std::vector<Word>& words, std::size_t at,
                                                 std::chrono::milliseconds unit) {
  const auto time = quantity_of(words, at, kTimes, static_cast<std::uint64_t>(unit.count()));
  return time ? std::optional(std::chrono::milliseconds(*time)) : std::nullopt;
}

}  // namespace proxy::command::squid
