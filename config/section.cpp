#include "config/section.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "config/quantity_hint.hpp"
#include "config/text.hpp"

namespace config {

namespace {

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

// A text is a number only if the environment had a part in it, which has texts alone.
std::string_view number_of(const Value& value) {
  const bool is_text = std::holds_alternative<std::string>(value.content);
  return is_text && !value.from_environment ? std::string_view() : text_of(value);
}

template <class T>
std::string quantity(std::string_view what, std::string_view example, const Range<T>& range) {
  return std::string(what) + " from " + in_quotes(to_text(range.least)) + " to " +
         in_quotes(to_text(range.most)) + ", written like " + in_quotes(example);
}

}  // namespace

Section::Section(const LocatedValue& found, Faults& faults)
    : whole_(found), object_(std::get_if<Object>(&found.value->content)), faults_(faults) {
  if (!object_) expected(whole_, "an object in braces");
}

void Section::read(std::string_view key, ByteSize& into, const Range<ByteSize>& range) {
  const auto found = find(key);
  if (!found) return;
  const auto* text = std::get_if<std::string>(&found->value->content);
  const auto size = text ? parse_bytes(*text) : std::nullopt;
  if (size && range.contains(*size)) {
    into = *size;
  } else {
    fault(*found, "expected " + quantity("a size (in B, KiB, MiB, GiB or TiB)", "256MiB", range) +
                      "; found " + describe(*found->value) +
                      (size ? "" : size_hint(text_of(*found->value), range)));
  }
}

void Section::read(std::string_view key, milliseconds& into, const Range<milliseconds>& range) {
  const auto found = find(key);
  if (!found) return;
  const auto* text = std::get_if<std::string>(&found->value->content);
  const auto time = text ? parse_duration(*text) : std::nullopt;
  if (time && range.contains(*time)) {
    into = *time;
  } else {
    fault(*found, "expected " + quantity("a time (in ms, s, m, h, d or w)", "250ms", range) +
                      "; found " + describe(*found->value) +
                      (time ? "" : duration_hint(text_of(*found->value), range)));
  }
}

void Section::read(std::string_view key, bool& into) {
  const auto found = find(key);
  if (!found) return;
  const auto* truth = std::get_if<bool>(&found->value->content);
  const auto text = number_of(*found->value);
  if (!truth && text != "true" && text != "false") return expected(*found, "true or false");
  into = truth ? *truth : text == "true";
}

void Section::read_token(std::string_view key, std::string& into) {
  const auto found = find(key);
  if (!found) return;
  const auto* text = std::get_if<std::string>(&found->value->content);
  if (text && is_token(*text) && text->size() <= 64) {
    into = *text;
  } else {
    expected(*found, "a name of at most 64 letters, digits, '-', '.' or '_'");
  }
}

void Section::read_text(std::string_view key, std::string& into, std::string_view what) {
  const auto found = find(key);
  if (!found) return;
  const auto* text = std::get_if<std::string>(&found->value->content);
  if (text && !text->empty() && text->find('\0') == std::string::npos) {
    into = *text;
  } else {
    expected(*found, what);
  }
}

std::optional<LocatedValue> Section::find(std::string_view key) {
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
  const auto* text = std::get_if<std::string>(&found.value->content);
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
    const std::string near = suggestion(member.key, known_);
    faults_.push_back({member.at, path_of(whole_.path, member.key),
                       "is not a " + std::string(kind) +
                           (near.empty() ? "; known here: " + one_of(known_) : near)});
  }
}

std::optional<std::uint64_t> Section::integer(const LocatedValue& found,
                                              const Range<std::uint64_t>& range) {
  const auto value = parse_number(number_of(*found.value), range.most);
  if (value && *value >= range.least) return value;
  expected(found, "a whole number from " + std::to_string(range.least) + " to " +
                      std::to_string(range.most));
  return std::nullopt;
}

std::optional<HostSpec> Section::host_pattern(const LocatedValue& found) {
  const auto* text = std::get_if<std::string>(&found.value->content);
  auto pattern = text ? parse_host_pattern(*text) : std::nullopt;
  if (!pattern) expected(found, kHostPatternForm);
  return pattern;
}

void Section::read_fraction(std::string_view key, double& into) {
  const auto found = find(key);
  if (!found) return;
  double value = -1;
  const auto text = number_of(*found->value);
  std::from_chars(text.data(), text.data() + text.size(), value);
  if (!(value >= 0 && value <= 1)) return expected(*found, "a number from 0 to 1");
  into = value;
}

std::optional<std::size_t> Section::choose(std::string_view key,
                                           std::span<const std::string_view> words) {
  const auto found = find(key);
  if (!found) return std::nullopt;
  if (const auto* text = std::get_if<std::string>(&found->value->content)) {
    const auto word = std::find(words.begin(), words.end(), *text);
    if (word != words.end()) return static_cast<std::size_t>(word - words.begin());
  }
  expected(*found, one_of(words), words);
  return std::nullopt;
}

}  // namespace config
