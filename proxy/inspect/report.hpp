// Named facts, as text for a person or as JSON for a program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace proxy::inspect {

class Report {
 public:
  using Value = std::variant<std::monostate, bool, std::uint64_t, double, std::string>;

  // A monostate is an unknown value: null in JSON, left out of the text.
  Report& add(std::string_view name, Value value) {
    facts_.emplace_back(name, std::move(value));
    return *this;
  }
  Report& add(const Report& other) {
    facts_.insert(facts_.end(), other.facts_.begin(), other.facts_.end());
    return *this;
  }

  // Reads a line that json() has written. Returns nothing for anything else, negative numbers and
  // nested values included. Safe on any bytes.
  static std::optional<Report> of_json(std::string_view line);

  // The facts, in the order in which add() was called.
  const std::vector<std::pair<std::string, Value>>& facts() const { return facts_; }
  // The value of the first fact of this name, if it is of type T; else null.
  template <class T>
  const T* find(std::string_view name) const {
    for (const auto& [its_name, value] : facts_) {
      if (its_name == name) return std::get_if<T>(&value);
    }
    return nullptr;
  }

  enum class Letters : std::uint8_t {
    all,
    ascii,  // all others as \uXXXX, so that a terminal executes no foreign bytes
  };

  // Writes the facts as one line with one JSON object. Bytes that are not UTF-8 become U+FFFD.
  std::string json(Letters letters = Letters::all) const;
  // Writes one line per fact: the name, with blanks for underscores, and the value.
  std::string text() const;

 private:
  std::vector<std::pair<std::string, Value>> facts_;
};

}  // namespace proxy::inspect
