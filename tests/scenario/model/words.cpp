#include "tests/scenario/model/words.hpp"

#include <algorithm>
#include <ctime>

namespace model {
namespace {

const std::string kToken =
    "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const std::string kMonths = "janfebmaraprmayjunjulaugsepoctnovdec";
const std::string kDays = "sunmontuewedthufrisat";

bool is_token(const std::string& text) {
  return !text.empty() && text.find_first_not_of(kToken) == text.npos;
}

// `shape`: D, Y, H, M, S stand for a digit each, N for a letter of a month, W for one of a weekday,
// _ for a digit of the day or a space; everything else for itself.
struct Shaped {
  std::string day, year, hour, minute, second, month, weekday;
};
std::optional<Shaped> fit(const std::string& text, const std::string& shape) {
  if (text.size() != shape.size()) return {};
  Shaped parts;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string* into = nullptr;
    switch (shape[i]) {
      case 'D':
      case '_':
        into = &parts.day;
        break;
      case 'Y':
        into = &parts.year;
        break;
      case 'H':
        into = &parts.hour;
        break;
      case 'M':
        into = &parts.minute;
        break;
      case 'S':
        into = &parts.second;
        break;
      case 'N':
        parts.month += c;
        continue;
      case 'W':
        parts.weekday += c;
        continue;
      default:
        if (c != shape[i]) return {};
        continue;
    }
    const bool blank = c == ' ' && shape[i] == '_';
    if (!blank && (c < '0' || c > '9')) return {};
    if (!blank) *into += c;
  }
  return parts;
}

std::optional<Seconds> point(const Shaped& parts, int year) {
  const auto month = kMonths.find(parts.month);
  if (month == kMonths.npos || month % 3 != 0) return {};
  std::tm tm{};
  tm.tm_year = year - 1900;
  tm.tm_mon = static_cast<int>(month / 3);
  tm.tm_mday = std::stoi(parts.day);
  tm.tm_hour = std::stoi(parts.hour);
  tm.tm_min = std::stoi(parts.minute);
  tm.tm_sec = std::stoi(parts.second);
  if (tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60 || tm.tm_mday < 1) return {};
  const std::tm wanted = tm;
  tm.tm_sec = 0;
  const Seconds time = timegm(&tm);
  if (tm.tm_mday != wanted.tm_mday) return {};  // no such day
  return time + std::min(wanted.tm_sec, 59);    // RFC 9111 4.2: no leap second here
}

std::optional<Seconds> two_digit_date(const std::string& text, Seconds now) {
  static const std::string kLongDays[] = {"sunday",   "monday", "tuesday", "wednesday",
                                          "thursday", "friday", "saturday"};
  const auto comma = text.find(',');
  if (std::find(std::begin(kLongDays), std::end(kLongDays), text.substr(0, comma)) ==
      std::end(kLongDays)) {
    return {};
  }
  const auto parts = fit(text.substr(comma), ", DD-NNN-YY HH:MM:SS gmt");
  if (!parts) return {};
  constexpr Seconds kFiftyYears = 50L * 36525 * 864;
  for (int century = 2100; century >= 1900; century -= 100) {
    const auto time = point(*parts, century + std::stoi(parts->year));
    if (time && *time <= now + kFiftyYears) return time;
  }
  return {};
}

bool quotes_close(const std::string& line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quoted && line[i] == '\\')
      ++i;
    else if (line[i] == '"')
      quoted = !quoted;
  }
  return !quoted;
}

}  // namespace

std::vector<std::string> members(const std::string& line) {
  std::vector<std::string> found(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ',' && !quoted) {
      found.emplace_back();
      continue;
    }
    if (line[i] == '"') quoted = !quoted;
    found.back() += line[i];
    if (quoted && line[i] == '\\' && i + 1 < line.size()) found.back() += line[++i];
  }
  for (std::string& member : found) member = trim(member);
  std::erase(found, "");
  return found;
}

std::vector<std::string> members(const Fields& fields, std::string_view name) {
  std::vector<std::string> all;
  for (const std::string& line : lines(fields, name)) {
    for (const std::string& member : members(line)) all.push_back(member);
  }
  return all;
}

std::optional<Seconds> number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos) return {};
  Seconds sum = 0;
  for (const char digit : text) sum = std::min(kForever, sum * 10 + (digit - '0'));
  return sum;
}

std::optional<Seconds> parse_date(const std::string& said, Seconds now) {
  const std::string text = lower(said);  // RFC 9111 4.2: case means nothing
  auto parts = fit(text, "WWW, DD NNN YYYY HH:MM:SS gmt");
  if (!parts) parts = fit(text, "WWW NNN _D HH:MM:SS YYYY");
  if (!parts) return two_digit_date(text, now);
  const auto day = kDays.find(parts->weekday);
  if (day == kDays.npos || day % 3 != 0) return {};
  return point(*parts, std::stoi(parts->year));
}

std::string date_text(Seconds time, DateStyle style) {
  const std::time_t when = time;
  std::tm tm{};
  gmtime_r(&when, &tm);
  const char* const format = style == DateStyle::imf      ? "%a, %d %b %Y %H:%M:%S GMT"
                             : style == DateStyle::rfc850 ? "%A, %d-%b-%y %H:%M:%S GMT"
                                                          : "%a %b %e %H:%M:%S %Y";
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &tm)};
}

Control::Control(const Fields& fields) : present_(has(fields, "Cache-Control")) {
  for (const std::string& line : lines(fields, "Cache-Control")) {
    unreadable_ = unreadable_ || !quotes_close(line);
  }
  for (const auto& member : members(fields, "Cache-Control")) directives_.push_back(read(member));
}

Control::Directive Control::read(const std::string& member) {
  const auto end = std::min(member.find_first_not_of(kToken), member.size());
  Directive directive{lower(member.substr(0, end)), {}, false};
  if (end == member.size()) return directive;
  std::string argument = member.substr(end + 1);
  const bool quoted = argument.size() > 1 && argument.find('"') == 0 &&
                      argument.find('"', 1) == argument.size() - 1;
  directive.malformed = member[end] != '=' || !(quoted || is_token(argument));
  directive.argument = quoted ? argument.substr(1, argument.size() - 2) : argument;
  return directive;
}

bool Control::says(std::string_view name) const {
  return std::any_of(directives_.begin(), directives_.end(),
                     [&](const Directive& one) { return one.name == name; });
}

bool Control::says_plainly(std::string_view name) const {
  return std::any_of(directives_.begin(), directives_.end(),
                     [&](const Directive& one) { return one.name == name && !one.argument; });
}

std::optional<Seconds> Control::seconds(std::string_view name) const {
  std::optional<Seconds> least;
  for (const Directive& one : directives_) {
    if (one.name != name) continue;
    const Seconds said = one.malformed ? 0 : number(one.argument.value_or("")).value_or(0);
    least = std::min(least.value_or(said), said);
  }
  return least;
}

std::optional<Seconds> Control::most_seconds(std::string_view name) const {
  std::optional<Seconds> most;
  for (const Directive& one : directives_) {
    if (one.name != name) continue;
    const Seconds said =
        one.malformed ? kForever : number(one.argument.value_or("")).value_or(kForever);
    most = std::max(most.value_or(said), said);
  }
  return most;
}

std::optional<Seconds> Control::max_stale() const {
  const bool only_plain = std::all_of(directives_.begin(), directives_.end(), [](const auto& one) {
    return one.name != "max-stale" || !one.argument;
  });
  if (only_plain) return says("max-stale") ? std::optional(kForever) : std::nullopt;
  std::optional<Seconds> least;
  for (const Directive& one : directives_) {
    if (one.name != "max-stale" || !one.argument) continue;
    const Seconds said = one.malformed ? 0 : number(*one.argument).value_or(0);
    least = std::min(least.value_or(said), said);
  }
  return least;
}

// A directive that names a field no response can lack means the whole response.
bool Control::names_fields(const Directive& directive) {
  static const std::string kNeeded[] = {"age",          "cache-control", "content-encoding",
                                        "content-type", "date",          "etag",
                                        "expires",      "last-modified", "vary"};
  if (!directive.argument || directive.malformed) return false;
  const auto listed = members(*directive.argument);
  return !listed.empty() && std::all_of(listed.begin(), listed.end(), [](const auto& name) {
    return is_token(name) &&
           std::find(std::begin(kNeeded), std::end(kNeeded), lower(name)) == std::end(kNeeded);
  });
}

bool Control::means_all(std::string_view name) const {
  return std::any_of(directives_.begin(), directives_.end(),
                     [&](const Directive& one) { return one.name == name && !names_fields(one); });
}

std::vector<std::string> Control::names(std::string_view name) const {
  std::vector<std::string> all;
  for (const Directive& one : directives_) {
    if (one.name != name || !names_fields(one)) continue;
    for (const auto& field : members(*one.argument)) all.push_back(field);
  }
  return all;
}

}  // namespace model
