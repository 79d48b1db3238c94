// Regular expressions of the simple kinds as globs. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proxy::command::squid {

// In the text of a glob: a question mark, and any text without a slash.
inline constexpr char kQuestionMark = '\x03';
inline constexpr char kNoSlash = '\x04';

// One text that a regular expression matches, such as ".deb" for `\.deb$`. "*" stands for any text,
// "?" for any character.
struct Glob {
  std::string text;
  bool from_start = false;  // the expression begins with ^
  bool to_end = false;      // it ends with $

  bool operator==(const Glob&) const = default;
};

// All texts of the expression: `\.(deb|rpm)$` has two. Nothing if globs cannot say it, or if it has
// more than 64 texts. Safe on any bytes.
std::optional<std::vector<Glob>> globs_of(std::string_view expression);

}  // namespace proxy::command::squid
