// Reads one object of the settings key by key. A fault is recorded and leaves the default in force.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/document.hpp"
#include "config/settings.hpp"

namespace config {

inline constexpr std::string_view kHostPatternForm =
    "a host like \"www.example.com\", \"*.example.com\" or \"*\", perhaps with a port";

template <class T>
struct Range {
  T least;
  T most;

  bool contains(const T& value) const { return least <= value && value <= most; }
};

// A word that a setting allows, and its meaning.
template <class E>
struct Word {
  std::string_view text;
  E meaning;
};

// A value of a key or an item of a list, together with its path.
struct LocatedValue {
  const Value* value;
  std::string path;

  // The text of the value. Null: the value is no text.
  const std::string* text() const { return std::get_if<std::string>(&value->content); }
  // The digits of the number. The environment has texts alone, so a text of which it supplied a
  // part counts as a number. Empty: the value is no number.
  std::string_view number() const;
};

// The form of a list: what it holds, as an error says it, and how many items at most.
struct ListForm {
  std::string_view of_what;
  std::size_t most = ~std::size_t{0};
};

// The text itself, unless it is empty or has a NUL: paths and names go to the system as C strings,
// which a NUL would cut.
std::optional<std::string> plain_text(const std::string& text);

// A parser that returns the text unchanged if `is_good` holds for it, else nothing.
template <class Good>
auto text_if(const Good& is_good) {
  return [is_good](const std::string& text) {
    return is_good(text) ? std::optional(text) : std::nullopt;
  };
}

// Every allowed key is read once; finish() then reports the keys that nobody read. If a key is
// absent or faulty, `into` keeps its value.
class Section {
 public:
  // `value` and `faults` must outlive the section. A value that is not an object is a fault.
  Section(const LocatedValue& found, Faults& faults);

  void read(std::string_view key, ByteSize& into, const Range<ByteSize>& range);
  void read(std::string_view key, milliseconds& into, const Range<milliseconds>& range);
  void read(std::string_view key, bool& into);
  template <std::integral T>
  void read(std::string_view key, T& into, const Range<T>& range) {
    if (const auto number = integer(key, {range.least, range.most})) into = static_cast<T>(*number);
  }
  // Reads a setting without a default.
  template <class T>
  void read(std::string_view key, std::optional<T>& into, const Range<T>& range) {
    if (find(key)) read(key, into.emplace(range.least), range);
  }
  // A token (RFC 9110 section 5.6.2) of at most 64 characters.
  void read_token(std::string_view key, std::string& into);

  // What `parse` makes of the text of an item: an optional, empty if the text is a fault. `what` is
  // what the error says was expected.
  template <class Parse>
  auto parsed(const LocatedValue& item, std::string_view what, const Parse& parse) {
    const auto* text = item.text();
    auto value = text ? parse(*text) : decltype(parse(*text))();
    if (!value) expected(item, what);
    return value;
  }
  template <class T, class Parse>
  void read_parsed(std::string_view key, T& into, std::string_view what, const Parse& parse) {
    const auto found = find(key);
    if (!found) return;
    if (auto value = parsed(*found, what, parse)) into = std::move(*value);
  }

  // What `read` makes of each item of a list: an optional, empty if the item is a fault. Returns
  // the list if it has no items, for the caller to judge.
  template <class T, class Read>
  std::optional<LocatedValue> read_list(std::string_view key, const ListForm& form,
                                        std::vector<T>& into, const Read& read) {
    const auto all = items(key, form.of_what, form.most);
    if (!all) return std::nullopt;
    into.clear();
    for (const LocatedValue& item : *all) {
      if (auto value = read(item)) into.push_back(std::move(*value));
    }
    return all->empty() ? find(key) : std::nullopt;
  }
  // The same for a list of texts. `what`: what an item is.
  template <class T, class Parse>
  std::optional<LocatedValue> read_texts(std::string_view key, const ListForm& form,
                                         std::vector<T>& into, std::string_view what,
                                         const Parse& parse) {
    return read_list(key, form, into,
                     [&](const LocatedValue& item) { return parsed(item, what, parse); });
  }
  // A list of objects, each of which `read` reads from a section of its own. An item that is no
  // object becomes a T{}, so that the places of the others are those of the file.
  template <class T, class Read>
  void read_objects(std::string_view key, const ListForm& form, std::vector<T>& into,
                    const Read& read) {
    const auto all = items(key, form.of_what, form.most);
    if (!all) return;
    for (const LocatedValue& item : *all) {
      Section part(item, faults_);
      into.push_back(part.is_object() ? read(part) : T{});
    }
  }

  template <class E>
  void read_word(std::string_view key, E& into,
                 std::initializer_list<Word<std::type_identity_t<E>>> words) {
    std::vector<std::string_view> texts;
    for (const auto& word : words) texts.push_back(word.text);
    if (const auto chosen = choose(key, texts)) into = words.begin()[*chosen].meaning;
  }

  // The value of a key, if the key is present.
  std::optional<LocatedValue> find(std::string_view key);
  // The value of a required key. `what` is what the error says was expected.
  std::optional<LocatedValue> require(std::string_view key, std::string_view what);
  // The items of a list, if the key is present and is a list of at most `most` items.
  std::optional<std::vector<LocatedValue>> items(std::string_view key, std::string_view of_what,
                                                 std::size_t most = ~std::size_t{0});
  std::optional<HostSpec> host_pattern(const LocatedValue& found);

  // Records a fault that names the value found, and which of `words` may have been meant.
  void expected(const LocatedValue& found, std::string_view what,
                std::span<const std::string_view> words = {});
  void fault(const LocatedValue& found, std::string what);

  Faults& faults() { return faults_; }
  const LocatedValue& whole() const { return whole_; }
  bool is_object() const { return object_ != nullptr; }

  // Reports each unknown key, and the known key that may have been meant. `kind`: what a key is.
  void finish(std::string_view kind = "setting");

 private:
  std::optional<std::uint64_t> integer(std::string_view key, const Range<std::uint64_t>& range);
  std::optional<std::size_t> choose(std::string_view key, std::span<const std::string_view> words);

  LocatedValue whole_;
  const Object* object_;
  Faults& faults_;
  std::vector<std::string_view> known_;
};

// Both return the end of an error message, such as `; write "20GiB"`, or nothing if the text means
// nothing known. What the message proposes is within the range. Safe on any bytes.
//
// The message for a text that parse_bytes() refuses.
std::string size_hint(std::string_view text, const Range<ByteSize>& range);
// The message for a text that parse_duration() refuses.
std::string duration_hint(std::string_view text, const Range<milliseconds>& range);

}  // namespace config
