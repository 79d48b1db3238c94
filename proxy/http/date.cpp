#include "proxy/http/date.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

using namespace std::chrono;

constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 7> kLongDays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                    "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::size_t kShort = 3;  // letters of a name of kDays or kMonths

// The first three bytes of `text` as one number, in which the case of letters makes no difference.
// A byte that is no letter never gives the number of one.
constexpr std::uint32_t folded(std::string_view text) {
  constexpr unsigned kLowerCase = 0x20;
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < kShort; ++i)
    number = number << 8 | static_cast<unsigned char>(text[i]) | kLowerCase;
  return number;
}

template <std::size_t kSize>
constexpr auto all_folded(const std::array<std::string_view, kSize>& names) {
  std::array<std::uint32_t, kSize> numbers{};
  std::transform(names.begin(), names.end(), numbers.begin(), folded);
  return numbers;
}
constexpr auto kFoldedDays = all_folded(kDays);
constexpr auto kFoldedMonths = all_folded(kMonths);

// Reads a date from left to right. After the first mismatch every further step fails.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : rest_(text) {}

  bool at_end() const { return good_ && rest_.empty(); }

  DateReader& literal(char wanted) {
    if (rest_.empty() || rest_.front() != wanted)
      fail();
    else
      rest_.remove_prefix(1);
    return *this;
  }

  // " GMT", and the end.
  bool ends_in_gmt() {
    literal(' ');
    return good_ && rest_.size() == kShort && folded(rest_) == folded("GMT");
  }

  // The index of the name at the front.
  unsigned one_of(std::span<const std::string_view> names) {
    for (unsigned i = 0; i < names.size(); ++i) {
      if (!same_word(rest_.substr(0, names[i].size()), names[i])) continue;
      rest_.remove_prefix(names[i].size());
      return i;
    }
    return fail();
  }

  // The same for names of three letters.
  unsigned one_of(std::span<const std::uint32_t> names) {
    if (rest_.size() < kShort) return fail();
    const auto found = std::ranges::find(names, folded(rest_));
    if (found == names.end()) return fail();
    rest_.remove_prefix(kShort);
    return static_cast<unsigned>(found - names.begin());
  }

  // Exactly `count` digits.
  unsigned digits(std::size_t count) {
    if (rest_.size() < count) return fail();
    unsigned number = 0;
    for (const char digit : rest_.substr(0, count)) {
      if (digit < '0' || digit > '9') return fail();
      number = number * 10 + static_cast<unsigned>(digit - '0');
    }
    rest_.remove_prefix(count);
    return number;
  }

  // asctime's day: two digits, or a space and one.
  unsigned padded_day() {
    if (rest_.substr(0, 1) != " ") return digits(2);
    rest_.remove_prefix(1);
    return digits(1);
  }

  seconds time_of_day() {
    const unsigned h = digits(2);
    const unsigned m = literal(':').digits(2);
    const unsigned s = literal(':').digits(2);
    good_ = good_ && h < 24 && m < 60 && s <= 60;
    // Our clock has no leap seconds: use the nearest earlier time (RFC 9111 4.2).
    return hours(h) + minutes(m) + seconds(std::min(s, 59U));
  }

 private:
  unsigned fail() {
    good_ = false;
    return 0;
  }

  std::string_view rest_;
  bool good_ = true;
};

struct Moment {
  int year = 0;
  unsigned month = 0;  // counted from 0
  unsigned day = 0;
  seconds time{};
};

std::optional<sys_seconds> point(const Moment& moment) {
  const year_month_day date{year(moment.year), month(moment.month + 1), day(moment.day)};
  if (!date.ok()) return {};
  return sys_days(date) + moment.time;
}

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::optional<sys_seconds> parse_imf(std::string_view text) {
  DateReader reader(text);
  Moment moment;
  reader.one_of(kFoldedDays);
  moment.day = reader.literal(',').literal(' ').digits(2);
  moment.month = reader.literal(' ').one_of(kFoldedMonths);
  moment.year = static_cast<int>(reader.literal(' ').digits(4));
  moment.time = reader.literal(' ').time_of_day();
  return reader.ends_in_gmt() ? point(moment) : std::nullopt;
}

// What the thread has parsed last. A response's Date is read several times, and many responses of
// one second have the same. The text alone decides the result.
class RecentDates {
 public:
  std::optional<sys_seconds> parse(std::string_view text) {
    // A text of another size is no IMF-fixdate: parse_imf() refuses it.
    if (text.size() != kImfSize) return parse_imf(text);
    auto& known = known_[place_of(text)];
    if (std::equal(text.begin(), text.end(), known.text.begin())) return known.date;
    const auto date = parse_imf(text);
    std::copy(text.begin(), text.end(), known.text.begin());
    known.date = date;
    return date;
  }

 private:
  static constexpr std::size_t kImfSize = 29;
  static constexpr std::size_t kKnown = 8;
  struct Known {
    std::array<char, kImfSize> text{};  // zeros, which no date equals
    std::optional<sys_seconds> date;
  };

  // The last digits of the day and of the second.
  static std::size_t place_of(std::string_view text) {
    return static_cast<unsigned char>(text[6] ^ (text[24] << 1)) % kKnown;
  }

  std::array<Known, kKnown> known_;
};

// "Sun Nov  6 08:49:37 1994"
std::optional<sys_seconds> parse_asctime(std::string_view text) {
  DateReader reader(text);
  Moment moment;
  reader.one_of(kFoldedDays);
  moment.month = reader.literal(' ').one_of(kFoldedMonths);
  moment.day = reader.literal(' ').padded_day();
  moment.time = reader.literal(' ').time_of_day();
  moment.year = static_cast<int>(reader.literal(' ').digits(4));
  return reader.at_end() ? point(moment) : std::nullopt;
}

// "Sunday, 06-Nov-94 08:49:37 GMT": the latest year with these digits that is at most 50 years
// ahead.
std::optional<sys_seconds> parse_rfc850(std::string_view text, sys_seconds now) {
  DateReader reader(text);
  Moment moment;
  reader.one_of(kLongDays);
  moment.day = reader.literal(',').literal(' ').digits(2);
  moment.month = reader.literal('-').one_of(kFoldedMonths);
  const int digits = static_cast<int>(reader.literal('-').digits(2));
  moment.time = reader.literal(' ').time_of_day();
  if (!reader.ends_in_gmt()) return {};
  // RFC 9110 5.6.7: a date that seems to be more than 50 years ahead is one of the past.
  const year_month_day today{floor<days>(now)};
  const sys_seconds horizon = now + (sys_days((today.year() + years(50)) / today.month() / 1) -
                                     sys_days(today.year() / today.month() / 1));
  moment.year = static_cast<int>(today.year()) / 100 * 100 + 100 + digits;
  auto result = point(moment);
  while ((!result || *result > horizon) && moment.year >= 100) {
    moment.year -= 100;
    result = point(moment);
  }
  return result;
}

void append_padded(std::string& out, unsigned number, std::size_t width) {
  char digits[4];
  for (std::size_t i = width; i-- > 0; number /= 10)
    digits[i] = static_cast<char>('0' + number % 10);
  out.append(digits, width);
}

}  // namespace

std::optional<sys_seconds> parse_date(std::string_view text, sys_seconds now) {
  if (text.size() < 4) return {};
  thread_local RecentDates recent;
  if (text[3] == ',') return recent.parse(text);
  if (text[3] == ' ') return parse_asctime(text);
  return parse_rfc850(text, now);
}

std::optional<seconds> retry_after(const Fields& fields) {
  constexpr seconds kMost = days(1);
  const auto said = fields.value(field::retry_after);
  // RFC 9110 10.2.3: seconds or a date. Many servers send seconds.
  if (const auto number = parse_decimal(said)) {
    return seconds(std::min<std::uint64_t>(*number, kMost.count()));
  }
  const sys_seconds any = sys_days(year(2000) / 1 / 1);  // for the century of two-digit years
  const auto until = parse_date(said, any);
  const auto since = parse_date(fields.value(field::date), any);
  if (!until || !since) return std::nullopt;
  return std::clamp(*until - *since, seconds(0), kMost);
}

std::string format_date(sys_seconds time) {
  time = std::clamp<sys_seconds>(time, sys_days(year(0) / 1 / 1), sys_days(year(9999) / 12 / 31));
  const sys_days midnight = floor<days>(time);
  const year_month_day date{midnight};
  const hh_mm_ss clock{time - midnight};
  std::string out;
  out.reserve(29);
  ((out += kDays[weekday(midnight).c_encoding()]) += ", ");
  append_padded(out, unsigned(date.day()), 2);
  ((out += ' ') += kMonths[unsigned(date.month()) - 1]) += ' ';
  append_padded(out, static_cast<unsigned>(int(date.year())), 4);
  append_padded(out += ' ', static_cast<unsigned>(clock.hours().count()), 2);
  append_padded(out += ':', static_cast<unsigned>(clock.minutes().count()), 2);
  append_padded(out += ':', static_cast<unsigned>(clock.seconds().count()), 2);
  return out += " GMT";
}

}  // namespace proxy::http
