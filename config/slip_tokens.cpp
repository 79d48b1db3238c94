#include "config/slip_tokens.hpp"

namespace config {

TokenScanner::TokenScanner(std::string_view text) : text_(text) {
  if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
}

std::pair<Token, std::optional<Slip>> TokenScanner::next() {
  if (auto slip = skip_blanks()) return {{}, std::move(slip)};
  Token token{.kind = Token::Kind::end, .text = {}, .at = at_, .after = at_};
  if (at_end()) return {token, std::nullopt};
  const std::size_t begin = offset_;
  auto slip = take(token.kind);
  token.text = text_.substr(begin, offset_ - begin);
  token.after = at_;
  return {token, std::move(slip)};
}

void TokenScanner::step() {
  at_ = text_[offset_++] == '\n' ? Position{at_.line + 1, 1} : Position{at_.line, at_.column + 1};
}

std::optional<Slip> TokenScanner::skip_blanks() {
  while (!at_end()) {
    if (sees("//")) {
      while (!at_end() && !sees("\n")) step();
    } else if (sees("/*")) {
      const Position begin = at_;
      while (!at_end() && !sees("*/")) step();
      if (at_end()) return Slip{begin, "this comment has no end; end it with */"};
      step();
      step();
    } else if (std::string_view(" \t\r\n").find(text_[offset_]) != std::string_view::npos) {
      step();
    } else {
      break;
    }
  }
  return std::nullopt;
}

std::optional<Slip> TokenScanner::take(Token::Kind& kind) {
  constexpr std::string_view kMarks = "{}[],:";
  const char first = text_[offset_];
  if (first == '"') {
    kind = Token::Kind::string;
    return take_string();
  }
  if (kMarks.find(first) != kMarks.npos) {
    kind = Token::Kind::mark;
    step();
    return std::nullopt;
  }
  if (auto slip = foreign_mark(first)) return slip;
  kind = Token::Kind::word;
  constexpr std::string_view kEnds = " \t\r\n{}[],:\"'=;#";
  while (!at_end() && kEnds.find(text_[offset_]) == kEnds.npos && !sees("//")) step();
  return std::nullopt;
}

std::optional<Slip> TokenScanner::foreign_mark(char first) const {
  if (first == '\'') return Slip{at_, "a text is written in double quotes, not in single ones"};
  if (first == '=') return Slip{at_, "between a key and its value is a colon, not \"=\""};
  if (first == ';') return Slip{at_, "a comma separates settings, not a semicolon"};
  if (first == '#') return Slip{at_, "a comment begins with //, not with #"};
  if (sees("\xE2\x80")) return Slip{at_, "a text is written in plain double quotes: \""};
  return std::nullopt;
}

std::optional<Slip> TokenScanner::take_string() {
  const Position begin = at_;
  step();
  while (!at_end() && !sees("\"")) {
    if (sees("\n")) break;
    if (sees("\\")) {
      const Position escape = at_;
      step();
      if (at_end()) break;
      if (std::string_view("\"\\/bfnrtu").find(text_[offset_]) == std::string_view::npos) {
        return Slip{escape, "a backslash in a text is written twice: \"\\\\\""};
      }
    }
    step();
  }
  if (at_end() || sees("\n")) {
    return Slip{begin, "the quote that opens here is not closed in this line"};
  }
  step();
  return std::nullopt;
}

}  // namespace config
