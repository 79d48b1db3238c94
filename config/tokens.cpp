#include "config/tokens.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "config/text.hpp"

namespace config {
namespace {

constexpr std::string_view kOfNumbers = "0123456789.eE+-";

std::string hexadecimal(unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return {'0', 'x', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
}

// Four hexadecimal digits: a unit of UTF-16.
std::optional<unsigned> code_unit(std::string_view text) {
  unsigned value = 0;
  const char* const end = text.data() + std::min<std::size_t>(text.size(), 4);
  const auto read = std::from_chars(text.data(), end, value, 16);
  return read.ptr == text.data() + 4 ? std::optional(value) : std::nullopt;
}

// Units of UTF-16 that stand for a character in pairs only, the high one first.
bool is_high_surrogate(unsigned unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low_surrogate(unsigned unit) {
  return unit >= 0xDC00 && unit < 0xE000;
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
Slip wrong_number(std::string_view word, const TextPosition& at) {
  if (word.find_first_not_of(kOfNumbers) != word.npos) return std::nullopt;
  if (!is_json_number(word)) {
    return slip(at, in_quotes(word) + " is no number; write it like 7, -7 or 0.5");
  }
  // A number that no double can hold would be none for any other reader of the file.
  double value = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
  if (read.ec == std::errc()) return std::nullopt;
  return slip(at, "the number " + in_quotes(word) + " is too long for any setting");
}

}  // namespace

TokenScanner::TokenScanner(std::string_view text) : text_(text) {
  // Editors of Windows write this mark before UTF-8, and RFC 8259 8.1 lets a reader ignore it.
  if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
}

std::pair<Token, Slip> TokenScanner::next() {
  if (auto slip = skip_blanks()) return {{}, std::move(slip)};
  Token token{.kind = Token::Kind::end, .text = {}, .at = at_, .after = at_};
  if (at_end()) return {token, std::nullopt};
  const std::size_t begin = offset_;
  auto slip = scan(token.kind);
  token.text = text_.substr(begin, offset_ - begin);
  token.after = at_;
  return {token, std::move(slip)};
}

void TokenScanner::step(std::size_t bytes) {
  // Columns are bytes: editors count so, or agree with it where a line is ASCII.
  for (; bytes > 0; --bytes) {
    at_ = text_[offset_++] == '\n' ? TextPosition{at_.line + 1, 1}
                                   : TextPosition{at_.line, at_.column + 1};
  }
}

Slip TokenScanner::skip_blanks() {
  while (!at_end()) {
    if (sees("//")) {
      while (!at_end() && !sees_one_of("\r\n")) step();
    } else if (sees("/*")) {
      const TextPosition begin = at_;
      step(2);
      while (!at_end() && !sees("*/")) step();
      if (at_end()) return slip(begin, "this comment has no end; end it with */");
      step(2);
    } else if (sees_one_of(" \t\r\n")) {
      step();
    } else {
      break;
    }
  }
  return std::nullopt;
}

Slip TokenScanner::scan(Token::Kind& kind) {
  if (sees("\"")) {
    kind = Token::Kind::string;
    return scan_string();
  }
  if (sees_one_of("{}[],:")) {
    kind = Token::Kind::mark;
    step();
    return std::nullopt;
  }
  if (auto slip = foreign_mark()) return slip;
  const TextPosition begin = at_;
  const std::size_t from = offset_;
  kind = Token::Kind::word;
  // A glob such as /pool/* lacks its quotes, and begins no comment.
  const auto word = [&] { return text_.substr(from, offset_ - from); };
  while (!at_end() && !sees_one_of(" \t\r\n{}[],:\"'=;#") && !sees("//") &&
         !(sees("/*") && is_json_word(word()))) {
    step();
  }
  return wrong_number(word(), begin);
}

// What other languages, editors and keyboards put where JSON has something else.
Slip TokenScanner::foreign_mark() const {
  struct Foreign {
    std::string_view mark, advice;
  };
  constexpr Foreign kForeign[] = {
      {"'", "a text is written in double quotes, not in single ones"},
      {"=", "between a key and its value is a colon, not \"=\""},
      {";", "a comma separates settings, not a semicolon"},
      {"#", "a comment begins with //, not with #"},
      {"\xE2\x80", "a text is written in plain double quotes: \""},
  };
  // Some editors of Windows save so, and call it Unicode.
  if (offset_ == 0 && (sees("\xFF\xFE") || sees("\xFE\xFF"))) {
    return slip(at_, "the file is UTF-16; save it as UTF-8");
  }
  for (const auto& [mark, advice] : kForeign) {
    if (sees(mark)) return slip(at_, std::string(advice));
  }
  return std::nullopt;
}

Slip TokenScanner::scan_string() {
  const TextPosition begin = at_;
  step();
  while (!at_end() && !sees_one_of("\"\n")) {
    if (auto slip = sees("\\") ? scan_escape() : scan_character()) return slip;
  }
  // Where the closing quote is missing, the next one in the file opens another text. So the line's
  // end tells of the slip sooner, and nearer to it.
  if (at_end() || sees("\n")) {
    return slip(begin, "the quote that opens here is not closed in this line");
  }
  step();
  return std::nullopt;
}

Slip TokenScanner::scan_escape() {
  const TextPosition begin = at_;
  step();
  if (at_end()) return std::nullopt;
  if (!sees_one_of("\"\\/bfnrtu")) {
    return slip(begin, "a backslash in a text is written twice: \"\\\\\"");
  }
  const bool by_number = sees("u");
  step();
  if (!by_number) return std::nullopt;
  const auto first = code_unit(text_.substr(offset_));
  if (!first) return slip(begin, "four hexadecimal digits follow \\u, as in \"\\u00e9\"");
  const auto then = text_.substr(offset_ + 4);
  const auto second = then.starts_with("\\u") ? code_unit(then.substr(2)) : std::nullopt;
  // Two escapes together write one character beyond the first 65,536 (RFC 8259 section 7).
  const bool pair = is_high_surrogate(*first) && second && is_low_surrogate(*second);
  if (!pair && (is_high_surrogate(*first) || is_low_surrogate(*first))) {
    return slip(begin, "this is half a character; write the character itself");
  }
  step(pair ? 10 : 4);
  return std::nullopt;
}

Slip TokenScanner::scan_character() {
  const auto byte = static_cast<unsigned char>(text_[offset_]);
  if (byte < ' ') {
    return slip(at_, sees("\t") ? "a tab in a text is written \\t"
                                : "a control character, " + hexadecimal(byte) +
                                      ", has no place in a text; take it out");
  }
  const std::size_t length = utf8_length(text_.substr(offset_));
  if (length == 0) {
    return slip(at_, "the byte " + hexadecimal(byte) +
                         " is no UTF-8 (Latin-1, perhaps); save the file as UTF-8");
  }
  step(length);
  return std::nullopt;
}

bool is_json_word(std::string_view word) {
  return word == "true" || word == "false" || word == "null" ||
         word.find_first_not_of(kOfNumbers) == word.npos;
}

std::string unescaped(std::string_view token) {
  return nlohmann::json::parse(token).get<std::string>();
}

}  // namespace config
