#include "config/slip_tokens.hpp"

#include <algorithm>
#include <charconv>

#include "config/text.hpp"

namespace config {
namespace {

std::string hexadecimal(unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return {'0', 'x', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
}

std::optional<unsigned> code_unit(std::string_view text) {
  unsigned value = 0;
  const char* const end = text.data() + std::min<std::size_t>(text.size(), 4);
  const auto read = std::from_chars(text.data(), end, value, 16);
  return read.ptr == text.data() + 4 ? std::optional(value) : std::nullopt;
}

bool is_high_surrogate(unsigned unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}

bool is_low_surrogate(unsigned unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

// The bytes of the first character (RFC 3629). 0: it is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follow = [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < count; ++i) {
      if ((byte(i) & 0xC0U) != 0x80U) return false;
    }
    return true;
  };
  const unsigned a = byte(0);
  const unsigned b = byte(1);
  if (a < 0x80) return 1;
  if (a >= 0xC2 && a < 0xE0) return follow(1, 2) ? 2 : 0;
  if (a >= 0xE0 && a < 0xF0) {
    const bool in_range = (a != 0xE0 || b >= 0xA0) && (a != 0xED || b < 0xA0);
    return in_range && follow(1, 3) ? 3 : 0;
  }
  const bool in_range =
      a >= 0xF0 && a < 0xF5 && (a != 0xF0 || b >= 0x90) && (a != 0xF4 || b < 0x90);
  return in_range && follow(1, 4) ? 4 : 0;
}

std::size_t digits(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

// JSON's grammar: -? (0 | 1-9 digits) (. digits)? (e sign? digits)?
bool is_json_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t whole = digits(text);
  if (whole == 0 || (whole > 1 && text.starts_with('0'))) return false;
  text.remove_prefix(whole);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::size_t part = digits(text);
    if (part == 0) return false;
    text.remove_prefix(part);
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && digits(text) == text.size();
  }
  return text.empty();
}

// A word that is meant as a number, and that JSON does not know, or nobody.
std::optional<Slip> wrong_number(std::string_view word, const Position& at) {
  if (word.find_first_not_of("0123456789.eE+-") != word.npos) return std::nullopt;
  if (!is_json_number(word)) {
    return Slip{at, in_quotes(word) + " is no number; write it like 7, -7 or 0.5"};
  }
  double value = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
  if (read.ec == std::errc()) return std::nullopt;
  return Slip{at, "the number " + in_quotes(word) + " is too long for any setting"};
}

}  // namespace

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
  const Position begin = at_;
  const std::size_t from = offset_;
  kind = Token::Kind::word;
  constexpr std::string_view kEnds = " \t\r\n{}[],:\"'=;#";
  while (!at_end() && kEnds.find(text_[offset_]) == kEnds.npos && !sees("//")) step();
  return wrong_number(text_.substr(from, offset_ - from), begin);
}

std::optional<Slip> TokenScanner::foreign_mark(char first) const {
  if (offset_ == 0 && (sees("\xFF\xFE") || sees("\xFE\xFF"))) {
    return Slip{at_, "the file is UTF-16; save it as UTF-8"};
  }
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
    if (auto slip = sees("\\") ? take_escape() : take_character()) return slip;
  }
  if (at_end() || sees("\n")) {
    return Slip{begin, "the quote that opens here is not closed in this line"};
  }
  step();
  return std::nullopt;
}

std::optional<Slip> TokenScanner::take_escape() {
  const Position begin = at_;
  step();
  if (at_end()) return std::nullopt;
  if (std::string_view("\"\\/bfnrtu").find(text_[offset_]) == std::string_view::npos) {
    return Slip{begin, "a backslash in a text is written twice: \"\\\\\""};
  }
  const bool by_number = sees("u");
  step();
  if (!by_number) return std::nullopt;
  const auto first = code_unit(text_.substr(offset_));
  if (!first) return Slip{begin, "four hexadecimal digits follow \\u, as in \"\\u00e9\""};
  const auto then = text_.substr(offset_ + 4);
  const auto second = then.starts_with("\\u") ? code_unit(then.substr(2)) : std::nullopt;
  const bool pair = is_high_surrogate(*first) && second && is_low_surrogate(*second);
  if (!pair && (is_high_surrogate(*first) || is_low_surrogate(*first))) {
    return Slip{begin, "this is half a character; write the character itself"};
  }
  for (std::size_t i = 0; i < (pair ? 10U : 4U); ++i) step();
  return std::nullopt;
}

std::optional<Slip> TokenScanner::take_character() {
  const auto byte = static_cast<unsigned char>(text_[offset_]);
  if (byte < ' ') {
    return Slip{at_, sees("\t") ? "a tab in a text is written \\t"
                                : "a control character, " + hexadecimal(byte) +
                                      ", has no place in a text; take it out"};
  }
  const std::size_t length = utf8_length(text_.substr(offset_));
  if (length == 0) {
    return Slip{at_, "the byte " + hexadecimal(byte) +
                         " is no UTF-8 (Latin-1, perhaps); save the file as UTF-8"};
  }
  for (std::size_t i = 0; i < length; ++i) step();
  return std::nullopt;
}

}  // namespace config
