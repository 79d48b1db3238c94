// JSON with comments. Every value knows its position in the text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace config {

// Lines and columns count from 1; columns are bytes.
struct TextPosition {
  std::size_t line = 1;
  std::size_t column = 1;
  std::size_t file = 0;  // its number in the order of reading

  auto operator<=>(const TextPosition&) const = default;
};

struct SettingFault {
  TextPosition at;
  std::string path;  // such as "peers[0].url"; empty: the document itself
  std::string what;
};

using Faults = std::vector<SettingFault>;

struct Value;
struct Member;

struct Number {
  std::string text;  // as written; the setting that it belongs to checks its range
};

using Array = std::vector<Value>;
using Object = std::vector<Member>;

struct Value {
  TextPosition at;
  std::variant<std::nullptr_t, bool, Number, std::string, Array, Object> content;
  bool from_environment = false;  // a text with a value of the environment
};

struct Member {
  std::string key;
  TextPosition at;
  Value value;
};

// Names a value in an error message: "the number 7", "a list".
std::string describe(const Value& value);

// The path of a key, or of an item of a list, below `parent`.
std::string path_of(const std::string& parent, std::string_view key);
std::string path_of(const std::string& parent, std::size_t index);

constexpr std::size_t kLongestSettings = 256 * 1024;  // enough for some thousand peers

// Returns nothing if the text is not JSON, too long or too deep; the last of `faults` then says
// why. A key that occurs twice is a fault too, but the document is still returned.
std::optional<Value> parse_document(std::string_view text, Faults& faults);

}  // namespace config
