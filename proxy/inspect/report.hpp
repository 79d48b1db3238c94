// Facts with names: text for a person, or JSON for a program.
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

  // Of monostate it is known that nobody knows it: null in JSON, left out of the text.
  Report& add(std::string_view name, Value value) {
    facts_.emplace_back(name, std::move(value));
    return *this;
  }
  Report& add(const Report& other) {
    facts_.insert(facts_.end(), other.facts_.begin(), other.facts_.end());
    return *this;
  }

  // What json() has made; numbers are not negative. Nothing for anything else. Safe on any bytes.
  static std::optional<Report> of_json(std::string_view line);

  // In the order in which they were added.
  const std::vector<std::pair<std::string, Value>>& facts() const { return facts_; }
  // Of a fact that is there, and of that type; else null.
  template <class T>
  const T* find(std::string_view name) const {
    for (const auto& [its_name, value] : facts_) {
      if (its_name == name) return std::get_if<T>(&value);
    }
    return nullptr;
  }

  enum class Letters : std::uint8_t {
    all,
    ascii,  // others as \uXXXX: what comes from anybody does nothing to a terminal then
  };

  // One line, an object; bytes that are not UTF-8 become U+FFFD.
  std::string json(Letters letters = Letters::all) const;
  // A line each: the name, with blanks for underscores, and the value.
  std::string text() const;
  std::string as(bool in_json) const { return in_json ? json() : text(); }

 private:
  std::vector<std::pair<std::string, Value>> facts_;
};

}  // namespace proxy::inspect
