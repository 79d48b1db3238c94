#include "config/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <numeric>

namespace config {

namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

// Largest first: quantity_text() takes the first one that divides the number. The others behind the
// smallest are only read. A "GB" is left out: to some it has 1000^3 bytes.
constexpr std::array kSizes{Unit{"TiB", 1ULL << 40},
                            Unit{"GiB", 1ULL << 30},
                            Unit{"MiB", 1ULL << 20},
                            Unit{"KiB", 1ULL << 10},
                            Unit{"B", 1},
                            Unit{"T", 1ULL << 40},
                            Unit{"G", 1ULL << 30},
                            Unit{"M", 1ULL << 20},
                            Unit{"K", 1ULL << 10}};
constexpr std::array kTimes{Unit{"d", 86'400'000}, Unit{"h", 3'600'000}, Unit{"m", 60'000},
                            Unit{"s", 1'000},      Unit{"ms", 1},        Unit{"w", 7 * 86'400'000}};
// So far below the limits of the types that sums of some of them fit, too.
constexpr std::uint64_t kLongestTime = 100ULL * 365 * 24 * 3'600'000;
constexpr std::uint64_t kLargestSize = 1ULL << 60;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<std::uint64_t> parse_quantity(std::string_view text, std::span<const Unit> units,
                                            std::uint64_t most) {
  const auto split = std::find_if_not(text.begin(), text.end(), is_digit) - text.begin();
  const std::string_view suffix = text.substr(static_cast<std::size_t>(split));
  for (const Unit& unit : units) {
    if (suffix != unit.name) continue;
    // The bound is divided before, so the product cannot overflow.
    const auto number =
        parse_number(text.substr(0, text.size() - suffix.size()), most / unit.factor);
    if (number) return *number * unit.factor;
  }
  return std::nullopt;
}

std::string quantity_text(std::uint64_t value, std::span<const Unit> units,
                          std::string_view smallest) {
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.factor == 0) {
      return std::to_string(value / unit.factor).append(unit.name);
    }
  }
  return "0" + std::string(smallest);
}

// Levenshtein distance, one row at a time. Two letters that change places count twice, which is
// near enough for a suggestion.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

bool is_token_char(char c) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         kMarks.find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_control);
}

bool is_user_name(std::string_view text) {
  constexpr std::size_t kLongest = 255;
  return !text.empty() && text.size() <= kLongest && text.find(':') == text.npos &&
         !has_control(text);
}

// Not by the locale, under which Turkish has no "i" for "I".
std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::string_view take_until(std::string_view& text, char mark) {
  const auto end = std::min(text.find(mark), text.size());
  const auto taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

std::size_t utf8_length(std::string_view text) {
  // RFC 3629 section 4. The second byte alone tells spellings that are too long, halves of pairs of
  // UTF-16 and numbers beyond Unicode.
  struct Lead {
    unsigned first, last;
    std::size_t length;
    unsigned least, most;  // of the second byte
  };
  constexpr Lead kLeads[] = {
      {0x00, 0x7F, 1, 0x00, 0x00}, {0xC2, 0xDF, 2, 0x80, 0xBF}, {0xE0, 0xE0, 3, 0xA0, 0xBF},
      {0xE1, 0xEC, 3, 0x80, 0xBF}, {0xED, 0xED, 3, 0x80, 0x9F}, {0xEE, 0xEF, 3, 0x80, 0xBF},
      {0xF0, 0xF0, 4, 0x90, 0xBF}, {0xF1, 0xF3, 4, 0x80, 0xBF}, {0xF4, 0xF4, 4, 0x80, 0x8F}};
  const auto is_within = [&](std::size_t at, unsigned least, unsigned most) {
    const unsigned byte = static_cast<unsigned char>(text[at]);
    return least <= byte && byte <= most;
  };
  for (const auto& [first, last, length, least, most] : kLeads) {
    if (text.size() < length || !is_within(0, first, last)) continue;
    bool is_whole = length == 1 || is_within(1, least, most);
    for (std::size_t i = 2; i < length; ++i) is_whole = is_whole && is_within(i, 0x80, 0xBF);
    return is_whole ? length : 0;
  }
  return 0;
}

std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t most) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  // from_chars() takes no sign for an unsigned number, no blank and no locale.
  if (error != std::errc{} || stop != end || number > most) return std::nullopt;
  return number;
}

std::optional<ByteSize> parse_bytes(std::string_view text) {
  const auto value = parse_quantity(text, kSizes, kLargestSize);
  return value ? std::optional(ByteSize{*value}) : std::nullopt;
}

std::optional<milliseconds> parse_duration(std::string_view text) {
  const auto value = parse_quantity(text, kTimes, kLongestTime);
  return value ? std::optional(milliseconds(*value)) : std::nullopt;
}

std::string to_text(ByteSize size) {
  return quantity_text(size.value, kSizes, "B");
}

std::string to_text(milliseconds time) {
  return quantity_text(static_cast<std::uint64_t>(time.count()), kTimes, "ms");
}

std::string rough_text(std::chrono::seconds time) {
  using std::chrono::duration_cast;
  using std::chrono::hours;
  using std::chrono::minutes;
  if (time <= minutes(10)) return std::to_string(time.count()) + " s";
  if (time < hours(2)) return std::to_string(duration_cast<minutes>(time).count()) + " minutes";
  const auto whole = duration_cast<hours>(time).count();
  return whole < 48 ? std::to_string(whole) + " hours" : std::to_string(whole / 24) + " days";
}

std::string short_size(std::uint64_t bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  std::size_t unit = 0;
  auto count = static_cast<double>(bytes);
  // From here on it would be rounded to "1000", which is too wide.
  for (; count >= 999.5 && unit + 1 < kUnits.size(); ++unit) count /= 1024;
  std::array<char, 16> text;
  std::snprintf(text.data(), text.size(), "%.*f %s", count < 9.95 ? 1 : 0, count, kUnits[unit]);
  return text.data();
}

std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  // Text of files and of strangers gets into errors, and a terminal acts upon control characters.
  for (const char c : text.substr(0, most)) out += c >= ' ' && c <= '~' ? c : '?';
  return text.size() > most ? out + "..." : out;
}

std::string in_quotes(std::string_view text) {
  return '"' + printable(text, 60) + '"';
}

std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates) {
  constexpr std::size_t kLongestWord = 40;  // bounds the work; our keys are much shorter
  if (text.size() > kLongestWord) return {};
  std::size_t best = text.size() / 3 + 2;  // short words are similar to everything
  std::string_view found;
  for (const std::string_view candidate : candidates) {
    const std::size_t away = distance(text, candidate);
    // At least half of the longer one is right: "foo" is not "top".
    if (away < best && 2 * away <= std::max(text.size(), candidate.size())) {
      best = away;
      found = candidate;
    }
  }
  return found;
}

}  // namespace config
