#include "config/slip.hpp"

#include <string>
#include <utility>
#include <vector>

#include "config/slip_tokens.hpp"
#include "config/text.hpp"

namespace config {

namespace {

std::string said(std::string_view text) {
  if (text.starts_with('"') && text.ends_with('"') && text.size() > 1) {
    text = text.substr(1, text.size() - 2);
  }
  return in_quotes(text);
}

bool is_number(std::string_view word) {
  return word.find_first_not_of("0123456789.eE+-") == word.npos;
}

// How to write a word that JSON does not know; nothing if it knows the word.
std::optional<std::string> unknown_word(std::string_view word) {
  if (word == "true" || word == "false" || word == "null" || is_number(word)) return std::nullopt;
  const std::string lower = lower_case(word);
  for (const std::string_view yes : {"true", "yes", "on"}) {
    if (lower == yes) return "write true";
  }
  for (const std::string_view no : {"false", "no", "off"}) {
    if (lower == no) return "write false";
  }
  return "a text is written in double quotes: " + in_quotes(word);
}

// Follows the grammar with a stack of open brackets.
class Reader {
 public:
  explicit Reader(std::string_view text) : scanner_(text) {}

  std::optional<Fault> first_slip() {
    for (;;) {
      auto [token, slip] = scanner_.next();
      note_line(token);
      if (token.kind == Token::Kind::word && is_foreign(token, slip.has_value())) {
        return Fault{begin_, "", no_json()};
      }
      // Before something foreign, a missing comma is the less likely slip.
      if (!slip) slip = judge(token);
      if (slip) return Fault{slip->at, "", std::move(slip->what)};
      if (token.kind == Token::Kind::end) return std::nullopt;
      before_ = token;
    }
  }

 private:
  enum class Awaits { value, first_value, key, first_key, colon, comma, end };

  struct Open {
    char mark;
    Position at;
    std::size_t indent;  // of its line
  };

  struct Suspect {
    Open open;
    Position closed;
  };

  void note_line(const Token& token) {
    if (begin_.column == 0) begin_ = token.at;
    if (token.at.line == line_) return;
    line_ = token.at.line;
    indent_ = token.at.column;
  }

  // Whether the file is no JSON at all: before the first brace stands a word that JSON does not
  // know.
  [[nodiscard]] bool is_foreign(const Token& token, bool is_slip) const {
    const bool at_top = awaits_ == Awaits::value && open_.empty();
    const bool in_list = open_.size() == 1 && open_.front().mark == '[' && before_.is('[');
    return (at_top || in_list) && (is_slip || unknown_word(token.text));
  }

  static std::string no_json() {
    return "this is no JSON (YAML, or another form, perhaps); the settings are one object in "
           "braces, "
           "such as { \"name\": \"cache-a\" }";
  }

  std::optional<Slip> judge(const Token& token) {
    if (token.kind == Token::Kind::end) return judge_end(token);
    switch (awaits_) {
      case Awaits::end:
        return after_the_end(token);
      case Awaits::value:
      case Awaits::first_value:
        return judge_value(token);
      case Awaits::key:
      case Awaits::first_key:
        return judge_key(token);
      case Awaits::colon:
        if (!token.is(':')) return missing_colon();
        awaits_ = Awaits::value;
        return std::nullopt;
      case Awaits::comma:
        return judge_comma(token);
    }
    return std::nullopt;
  }

  std::optional<Slip> judge_end(const Token& token) const {
    if (awaits_ == Awaits::end) return std::nullopt;
    if (open_.empty()) return Slip{token.at, "is empty; the least settings are {}"};
    if (suspect_) return wrongly_closed(*suspect_);
    const Open& last = open_.back();
    return Slip{last.at, std::string("this ") + last.mark + " is not closed; add " +
                             (last.mark == '{' ? "a }" : "a ]") + " behind the last item in it"};
  }

  static Slip wrongly_closed(const Suspect& suspect) {
    const std::string mark = suspect.open.mark == '{' ? "}" : "]";
    return {suspect.open.at, std::string("this ") + suspect.open.mark + " is not closed: the " +
                                 mark + " of line " + std::to_string(suspect.closed.line) +
                                 " is meant for what is around it; add a " + mark +
                                 " behind the last item in it"};
  }

  static Slip after_the_end(const Token& token) {
    if (token.closes()) return {token.at, "one " + std::string(token.text) + " too many"};
    return {token.at, "the settings end before this; one object in braces holds them all"};
  }

  std::optional<Slip> judge_value(const Token& token) {
    if (token.is(']') && awaits_ == Awaits::first_value) return close(token);
    if (token.closes() && before_.is(',')) return comma_before(token);
    if (token.closes()) return Slip{token.at, "a value is missing before " + said(token.text)};
    if (token.is(',')) {
      return Slip{token.at, before_.is(',') ? "one comma too many" : "a value is missing here"};
    }
    if (token.is(':')) return Slip{token.at, "a colon follows a key only, in an object in braces"};
    if (token.kind == Token::Kind::word) {
      if (auto how = unknown_word(token.text)) return Slip{token.at, std::move(*how)};
    }
    if (token.opens()) {
      open_.push_back({token.text.front(), token.at, indent_});
      awaits_ = token.is('{') ? Awaits::first_key : Awaits::first_value;
    } else {
      awaits_ = open_.empty() ? Awaits::end : Awaits::comma;
    }
    return std::nullopt;
  }

  std::optional<Slip> judge_key(const Token& token) {
    if (token.is('}') && awaits_ == Awaits::first_key) return close(token);
    if (token.closes() && before_.is(',')) return comma_before(token);
    if (token.is(',')) return Slip{token.at, "one comma too many"};
    if (token.kind == Token::Kind::word) {
      return Slip{token.at, "a key is written in double quotes: " + in_quotes(token.text)};
    }
    if (token.kind != Token::Kind::string) {
      return Slip{token.at, "expected a key in double quotes; found " + said(token.text)};
    }
    awaits_ = Awaits::colon;
    return std::nullopt;
  }

  std::optional<Slip> judge_comma(const Token& token) {
    if (token.closes()) return close(token);
    if (token.is(',')) {
      awaits_ = open_.back().mark == '{' ? Awaits::key : Awaits::value;
      return std::nullopt;
    }
    if (token.is(':') && open_.back().mark == '[') {
      return Slip{open_.back().at, "this list has keys; write it as an object in braces"};
    }
    if (token.is(':')) return Slip{token.at, "one colon too many"};
    return Slip{before_.after, "a comma is missing here, after " + said(before_.text)};
  }

  std::optional<Slip> missing_colon() const {
    return Slip{before_.after, "a colon is missing here, after " + said(before_.text)};
  }

  Slip comma_before(const Token& token) const {
    return {before_.at, "no comma may stand before " + said(token.text) + "; take it out"};
  }

  std::optional<Slip> close(const Token& token) {
    const char wanted = open_.back().mark == '{' ? '}' : ']';
    if (!token.is(wanted)) {
      const Position& at = open_.back().at;
      return Slip{token.at, std::string("expected ") + wanted + " for the " + open_.back().mark +
                                " of line " + std::to_string(at.line) + ", column " +
                                std::to_string(at.column) + "; found " + std::string(token.text)};
    }
    // Whoever indents ends an object below its beginning.
    const bool begins_line = token.at.column == indent_ && before_.at.line != token.at.line;
    if (!suspect_ && begins_line && indent_ < open_.back().indent) {
      suspect_ = Suspect{open_.back(), token.at};
    }
    open_.pop_back();
    awaits_ = open_.empty() ? Awaits::end : Awaits::comma;
    return std::nullopt;
  }

  TokenScanner scanner_;
  Awaits awaits_ = Awaits::value;
  std::vector<Open> open_;
  std::optional<Suspect> suspect_;  // an open bracket that was probably closed too late
  Token before_;
  Position begin_{0, 0};  // of the first token
  std::size_t line_ = 0;
  std::size_t indent_ = 0;  // of the line: the column of its first token
};

}  // namespace

std::optional<Fault> find_slip(std::string_view text) {
  return Reader(text).first_slip();
}

}  // namespace config
