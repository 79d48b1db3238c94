// The tokens of a JSON text that may hold comments.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "config/document.hpp"

namespace config {

struct Token {
  enum class Kind { mark, string, word, end } kind = Kind::end;
  std::string_view text;  // of a string: with its quotes
  TextPosition at;
  TextPosition after;  // the position behind it

  bool is(char mark) const { return kind == Kind::mark && text.front() == mark; }
  bool opens() const { return is('{') || is('['); }
  bool closes() const { return is('}') || is(']'); }
};

// The fault at a position, and how to mend it; nothing if there is none.
using Slip = std::optional<SettingFault>;

inline Slip slip(const TextPosition& at, std::string what) {
  return SettingFault{at, "", std::move(what)};
}

// Reads a text token by token. Passes over blanks, and over comments as C++ has them. Safe on any
// bytes.
class TokenScanner {
 public:
  // Tokens are views into `text`.
  explicit TokenScanner(std::string_view text);

  // The next token; at the end of the text, again and again, one of the kind `end`. If JSON has no
  // token for what stands there, also the slip; do not call next() after that.
  std::pair<Token, Slip> next();

 private:
  bool at_end() const { return offset_ >= text_.size(); }
  bool sees(std::string_view mark) const { return text_.substr(offset_).starts_with(mark); }
  bool sees_one_of(std::string_view marks) const {
    return marks.find(text_[offset_]) != marks.npos;
  }
  void step(std::size_t bytes = 1);
  Slip skip_blanks();
  Slip scan(Token::Kind& kind);
  Slip foreign_mark() const;
  Slip scan_string();
  Slip scan_escape();
  Slip scan_character();

  std::string_view text_;
  std::size_t offset_ = 0;
  TextPosition at_;
};

// Whether JSON has the word: true, false, null, or anything of which numbers are made.
bool is_json_word(std::string_view word);

// The text of a token of the kind `string`, which next() gave without a slip.
std::string unescaped(std::string_view token);

}  // namespace config
