#include "config/section.hpp"

#include <algorithm>
#include <utility>

#include "config/text.hpp"

namespace config {

namespace {

// A unit, how many of the unit before it make one, and how people spell it, in lower case.
struct SpelledUnit {
  std::string_view name;
  std::uint64_t step;
  std::string_view spellings;
};

// Who writes "GB" of a cache means GiB: operating systems and other proxies count so. It is
// suggested only, never read so, since to some it has 1000^3 bytes.
constexpr std::array kSizeUnits{
    SpelledUnit{"B", 0, "|b|byte|bytes|"}, SpelledUnit{"KiB", 1024, "|k|kb|kib|"},
    SpelledUnit{"MiB", 1024, "|m|mb|mib|"}, SpelledUnit{"GiB", 1024, "|g|gb|gib|"},
    SpelledUnit{"TiB", 1024, "|t|tb|tib|"}};
constexpr std::array kTimeUnits{SpelledUnit{"ms", 0, "|ms|msec|milliseconds|"},
                                SpelledUnit{"s", 1000, "|s|sec|secs|second|seconds|"},
                                SpelledUnit{"m", 60, "|m|min|mins|minute|minutes|"},
                                SpelledUnit{"h", 60, "|h|hr|hour|hours|"},
                                SpelledUnit{"d", 24, "|d|day|days|"},
                                SpelledUnit{"w", 7, "|w|week|weeks|"}};

// A number such as "1.5" is 15 tenths: `digits` is 15 and `scale` is 10.
struct Written {
  std::uint64_t digits = 0;
  std::uint64_t scale = 1;
  std::string unit{};  // in lower case; empty: none
};

std::optional<Written> parse_written(std::string_view text) {
  constexpr std::uint64_t kMost = 1'000'000'000;
  text = trimmed(text);
  const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto point = std::min(text.find('.'), end);
  std::string number(text.substr(0, point));
  Written written;
  if (point < end) {
    const auto fraction = text.substr(point + 1, end - point - 1);
    // Nobody means more digits, and with three no product below overflows.
    if (fraction.empty() || fraction.size() > 3) return std::nullopt;
    number += fraction;
    for (std::size_t i = 0; i < fraction.size(); ++i) written.scale *= 10;
  }
  const auto digits = parse_number(number, kMost);
  if (!digits) return std::nullopt;
  written.digits = *digits;
  written.unit = lower_case(trimmed(text.substr(end)));
  return written;
}

// The number in this unit, or in the one before it if it is no whole number.
std::optional<std::string> spelled(const Written& written, const SpelledUnit* unit) {
  if (written.digits % written.scale == 0) {
    return std::to_string(written.digits / written.scale).append(unit->name);
  }
  const std::uint64_t in_smaller = written.digits * unit->step;
  if (unit->step == 0 || in_smaller % written.scale != 0) return std::nullopt;
  return std::to_string(in_smaller / written.scale).append((unit - 1)->name);
}

// `usual`: the unit that a number without one likely has.
template <class T>
std::string hint(const Written& written, std::span<const SpelledUnit> units, std::string_view usual,
                 std::optional<T> (*parse)(std::string_view), const Range<T>& range) {
  const bool lacks_unit = written.unit.empty();
  const auto spelling = '|' + (lacks_unit ? std::string(usual) : written.unit) + '|';
  for (const SpelledUnit& unit : units) {
    if (unit.spellings.find(spelling) == unit.spellings.npos) continue;
    const auto exact = spelled(written, &unit);
    const auto quantity = exact ? parse(*exact) : std::nullopt;
    const bool fits = quantity && range.contains(*quantity);
    if (lacks_unit && !exact) return {};
    if (lacks_unit) {
      return fits ? "; say the unit: " + in_quotes(*exact) + " or another" : "; say the unit";
    }
    return fits ? "; write " + in_quotes(*exact) : "";
  }
  return {};
}

std::string suggestion(std::string_view text, std::span<const std::string_view> words) {
  const std::string_view near = nearest(text, words);
  return near.empty() ? "" : "; did you mean " + in_quotes(near) + '?';
}

std::string one_of(std::span<const std::string_view> words) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) list += i + 1 < words.size() ? ", " : " or ";
    list += in_quotes(words[i]);
  }
  return list;
}

// What a value that is no quantity says all the same: a number without a unit counts as its text.
std::string_view text_of(const Value& value) {
  if (const auto* number = std::get_if<Number>(&value.content)) return number->text;
  const auto* text = std::get_if<std::string>(&value.content);
  return text ? std::string_view(*text) : std::string_view();
}

// How settings write a size or a time. `hint` words what a text that `parse` refuses may have
// meant.
template <class T>
struct Quantity {
  std::string_view what, example;
  std::optional<T> (*parse)(std::string_view);
  std::string (*hint)(std::string_view text, const Range<T>& range);
};

template <class T>
void read_quantity(Section& in, std::string_view key, T& into, const Range<T>& range,
                   const Quantity<T>& kind) {
  const auto found = in.find(key);
  if (!found) return;
  const auto* text = found->text();
  const auto value = text ? kind.parse(*text) : std::nullopt;
  if (value && range.contains(*value)) {
    into = *value;
    return;
  }
  in.fault(*found, "expected " + std::string(kind.what) + " from " +
                       in_quotes(to_text(range.least)) + " to " + in_quotes(to_text(range.most)) +
                       ", written like " + in_quotes(kind.example) + "; found " +
                       describe(*found->value) +
                       (value ? "" : kind.hint(text_of(*found->value), range)));
}

}  // namespace

std::string size_hint(std::string_view text, const Range<ByteSize>& range) {
  const auto written = parse_written(text);
  // Of "1.5" nobody knows whether it means MiB or GiB.
  if (!written || (written->unit.empty() && written->scale != 1)) return {};
  return hint<ByteSize>(*written, kSizeUnits, "mib", parse_bytes, range);
}

std::string duration_hint(std::string_view text, const Range<milliseconds>& range) {
  auto written = parse_written(text);
  if (!written) return {};
  if (const auto& unit = written->unit; unit == "y" || unit == "year" || unit == "years") {
    written = Written{written->digits * 365 / written->scale, 1, "d"};
  }
  return hint<milliseconds>(*written, kTimeUnits, "s", parse_duration, range);
}

std::string_view LocatedValue::number() const {
  // "4" in quotes stays a mistake, so that a file says what it means.
  return text() && !value->from_environment ? std::string_view() : text_of(*value);
}

Section::Section(const LocatedValue& found, Faults& faults)
    : whole_(found), object_(std::get_if<Object>(&found.value->content)), faults_(faults) {
  if (!object_) expected(whole_, "an object in braces");
}

void Section::read(std::string_view key, ByteSize& into, const Range<ByteSize>& range) {
  read_quantity<ByteSize>(
      *this, key, into, range,
      {"a size (in B, KiB, MiB, GiB or TiB)", "256MiB", parse_bytes, size_hint});
}

void Section::read(std::string_view key, milliseconds& into, const Range<milliseconds>& range) {
  read_quantity<milliseconds>(
      *this, key, into, range,
      {"a time (in ms, s, m, h, d or w)", "250ms", parse_duration, duration_hint});
}

void Section::read(std::string_view key, bool& into) {
  const auto found = find(key);
  if (!found) return;
  const auto* truth = std::get_if<bool>(&found->value->content);
  const auto text = found->number();
  if (!truth && text != "true" && text != "false") return expected(*found, "true or false");
  into = truth ? *truth : text == "true";
}

void Section::read_token(std::string_view key, std::string& into) {
  read_parsed(key, into, "a name of at most 64 letters, digits, '-', '.' or '_'",
              text_if([](const auto& text) { return is_token(text) && text.size() <= 64; }));
}

std::optional<std::string> plain_text(const std::string& text) {
  if (text.empty() || text.find('\0') != text.npos) return std::nullopt;
  return text;
}

std::optional<LocatedValue> Section::find(std::string_view key) {
  // In the order of reading, in which finish() lists them: a program may look up a key twice.
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  if (!object_) return std::nullopt;
  const auto member = std::find_if(object_->begin(), object_->end(),
                                   [&](const Member& each) { return each.key == key; });
  if (member == object_->end()) return std::nullopt;
  return LocatedValue{&member->value, path_of(whole_.path, key)};
}

std::optional<LocatedValue> Section::require(std::string_view key, std::string_view what) {
  auto found = find(key);
  if (!found) {
    fault(whole_, "expected " + in_quotes(key) + ", " + std::string(what) + "; it is missing");
  }
  return found;
}

std::optional<std::vector<LocatedValue>> Section::items(std::string_view key, std::string_view what,
                                                        std::size_t most) {
  const auto found = find(key);
  if (!found) return std::nullopt;
  const auto* array = std::get_if<Array>(&found->value->content);
  if (!array) {
    expected(*found, "a list of " + std::string(what));
    return std::nullopt;
  }
  if (array->size() > most) {
    fault(*found, "expected at most " + std::to_string(most) + " items; found " +
                      std::to_string(array->size()));
    return std::nullopt;
  }
  std::vector<LocatedValue> values;
  for (const Value& value : *array) values.push_back({&value, path_of(found->path, values.size())});
  return values;
}

void Section::expected(const LocatedValue& found, std::string_view what,
                       std::span<const std::string_view> words) {
  const auto* text = found.text();
  fault(found, "expected " + std::string(what) + "; found " + describe(*found.value) +
                   (text ? suggestion(*text, words) : ""));
}

void Section::fault(const LocatedValue& found, std::string what) {
  faults_.push_back({found.value->at, found.path, std::move(what)});
}

void Section::finish(std::string_view kind) {
  if (!object_) return;
  for (const Member& member : *object_) {
    if (std::find(known_.begin(), known_.end(), member.key) != known_.end()) continue;
    // A list of all keys would hide the one that a typing mistake meant.
    const std::string near = suggestion(member.key, known_);
    faults_.push_back({member.at, path_of(whole_.path, member.key),
                       "is not a " + std::string(kind) +
                           (near.empty() ? "; known here: " + one_of(known_) : near)});
  }
}

std::optional<std::uint64_t> Section::integer(std::string_view key,
                                              const Range<std::uint64_t>& range) {
  const auto found = find(key);
  if (!found) return std::nullopt;
  const auto value = parse_number(found->number(), range.most);
  if (value && *value >= range.least) return value;
  expected(*found, "a whole number from " + std::to_string(range.least) + " to " +
                       std::to_string(range.most));
  return std::nullopt;
}

std::optional<HostSpec> Section::host_pattern(const LocatedValue& found) {
  return parsed(found, kHostPatternForm, parse_host_pattern);
}

std::optional<std::size_t> Section::choose(std::string_view key,
                                           std::span<const std::string_view> words) {
  const auto found = find(key);
  if (!found) return std::nullopt;
  if (const auto* text = found->text()) {
    const auto word = std::find(words.begin(), words.end(), *text);
    if (word != words.end()) return static_cast<std::size_t>(word - words.begin());
  }
  expected(*found, one_of(words), words);
  return std::nullopt;
}

}  // namespace config
