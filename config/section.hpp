// One object of the settings, read key by key; what is wrong is noted, and the default stays.
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

// A word that a setting may be, and what it stands for.
template <class E>
struct Word {
  std::string_view text;
  E meaning;
};

// A list's item or a key's value, with its path.
struct LocatedValue {
  const Value* value;
  std::string path;
};

// Each key is asked for once, then finish() tells which keys nobody asked for. A key that is absent
// leaves `into` as it was; so does a fault.
class Section {
 public:
  // `value` and `faults` outlive the section. A value that is no object is a fault.
  Section(const LocatedValue& found, Faults& faults);

  void read(std::string_view key, ByteSize& into, const Range<ByteSize>& range);
  void read(std::string_view key, milliseconds& into, const Range<milliseconds>& range);
  // From 0 to 1.
  void read_fraction(std::string_view key, double& into);
  void read(std::string_view key, bool& into);
  // A token (RFC 9110 section 5.6.2) of at most 64 characters.
  void read_token(std::string_view key, std::string& into);

  // A text that is not empty and has no NUL; `what` says what is expected.
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

  // The value of a key, if it is there.
  std::optional<LocatedValue> find(std::string_view key);
  // The value of a key that has to be there; `what` says what is expected.
  std::optional<LocatedValue> require(std::string_view key, std::string_view what);
  // The items of a list, if it is there, is one, and has at most so many.
  std::optional<std::vector<LocatedValue>> items(std::string_view key, std::string_view of_what,
                                                 std::size_t most = ~std::size_t{0});
  std::optional<std::uint64_t> integer(const LocatedValue& found,
                                       const Range<std::uint64_t>& range);
  std::optional<HostSpec> host_pattern(const LocatedValue& found);

  // Notes what stood there instead, and which of `words` may have been meant.
  void expected(const LocatedValue& found, std::string_view what,
                std::span<const std::string_view> words = {});
  void fault(const LocatedValue& found, std::string what);

  Faults& faults() { return faults_; }
  const LocatedValue& whole() const { return whole_; }
  bool is_object() const { return object_ != nullptr; }

  // Unknown keys, each with the known one that may have been meant.
  void finish();

 private:
  std::optional<std::size_t> choose(std::string_view key, std::span<const std::string_view> words);

  LocatedValue whole_;
  const Object* object_;
  Faults& faults_;
  std::vector<std::string_view> known_;
};

}  // namespace config
