// Reads one object of the settings key by key. A fault is recorded and leaves the default in force.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
};

// Every allowed key is read once; finish() then reports the keys that nobody read. If a key is
// absent or faulty, `into` keeps its value.
class Section {
 public:
  // `value` and `faults` must outlive the section. A value that is not an object is a fault.
  Section(const LocatedValue& found, Faults& faults);

  void read(std::string_view key, ByteSize& into, const Range<ByteSize>& range);
  void read(std::string_view key, milliseconds& into, const Range<milliseconds>& range);
  // A number from 0 to 1.
  void read_fraction(std::string_view key, double& into);
  void read(std::string_view key, bool& into);
  // A token (RFC 9110 section 5.6.2) of at most 64 characters.
  void read_token(std::string_view key, std::string& into);

  // A non-empty text without NUL. `what` is what the error says was expected.
  void read_text(std::string_view key, std::string& into, std::string_view what);

  template <class T>
  void read_number(std::string_view key, T& into, const Range<T>& range) {
    const auto found = find(key);
    if (!found) return;
    const auto number = integer(*found, {range.least, range.most});
    if (number) into = static_cast<T>(*number);
  }

  template <class E, std::size_t N>
  void read_word(std::string_view key, E& into, const std::array<Word<E>, N>& words) {
    std::array<std::string_view, N> texts;
    for (std::size_t i = 0; i < N; ++i) texts[i] = words[i].text;
    const auto chosen = choose(key, texts);
    if (chosen) into = words[*chosen].meaning;
  }

  // The value of a key, if the key is present.
  std::optional<LocatedValue> find(std::string_view key);
  // The value of a required key. `what` is what the error says was expected.
  std::optional<LocatedValue> require(std::string_view key, std::string_view what);
  // The items of a list, if the key is present and is a list of at most `most` items.
  std::optional<std::vector<LocatedValue>> items(std::string_view key, std::string_view of_what,
                                                 std::size_t most = ~std::size_t{0});
  std::optional<std::uint64_t> integer(const LocatedValue& found,
                                       const Range<std::uint64_t>& range);
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
  std::optional<std::size_t> choose(std::string_view key, std::span<const std::string_view> words);

  LocatedValue whole_;
  const Object* object_;
  Faults& faults_;
  std::vector<std::string_view> known_;
};

}  // namespace config
