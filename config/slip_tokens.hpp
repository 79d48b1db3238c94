// The tokens of a text that should be JSON, for find_slip().
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
  Position at;
  Position after;  // the position behind it

  bool is(char mark) const { return kind == Kind::mark && text.front() == mark; }
  bool opens() const { return is('{') || is('['); }
  bool closes() const { return is('}') || is(']'); }
};

// What is wrong at a position, and how to mend it.
struct Slip {
  Position at;
  std::string what;
};

// Reads a text token by token. Passes over blanks, and over comments as C++ has them. Safe on any
// bytes.
class TokenScanner {
 public:
  // Tokens are views into `text`.
  explicit TokenScanner(std::string_view text);

  // The next token; at the end of the text, again and again, one of the kind `end`. If JSON has no
  // token for what stands there, also the slip; do not call next() after that.
  std::pair<Token, std::optional<Slip>> next();

 private:
  bool at_end() const { return offset_ >= text_.size(); }
  bool sees(std::string_view mark) const { return text_.substr(offset_).starts_with(mark); }
  void step();
  std::optional<Slip> skip_blanks();
  std::optional<Slip> take(Token::Kind& kind);
  std::optional<Slip> foreign_mark(char first) const;
  std::optional<Slip> take_string();
  std::optional<Slip> take_escape();
  std::optional<Slip> take_character();

  std::string_view text_;
  std::size_t offset_ = 0;
  Position at_;
};

}  // namespace config
