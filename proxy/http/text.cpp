#include "proxy/http/text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "proxy/http/piece_writer.hpp"

namespace proxy::http {
namespace {

constexpr bool alpha(unsigned c) {
  return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}
constexpr bool digit(unsigned c) {
  return c >= '0' && c <= '9';
}
constexpr bool one_of(unsigned c, std::string_view set) {
  return c < 128 && set.find(static_cast<char>(c)) != std::string_view::npos;
}

constexpr std::uint8_t classes_of(unsigned c) {
  const bool visible = c > 0x20 && c < 0x7f;
  unsigned classes = 0;
  if (alpha(c) || digit(c) || one_of(c, "!#$%&'*+-.^_`|~")) classes |= kTokenChar;
  if (visible || c == ' ' || c == '\t' || c >= 0x80) classes |= kValueChar;
  if ((visible && c != '#') || c >= 0x80) classes |= kTargetChar;
  if (visible && c != '#') classes |= kAsIsChar;
  if (alpha(c) || digit(c) || one_of(c, "-._~")) classes |= kHostChar;
  if (digit(c)) classes |= kDigit;
  if (digit(c) || (alpha(c) && (c | 0x20) <= 'f')) classes |= kHex;
  if ((visible && c != '"') || c >= 0x80) classes |= kEtagChar;
  return static_cast<std::uint8_t>(classes);
}

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 0; c < 256; ++c) table[c] = classes_of(c);
  return table;
}

}  // namespace

constexpr std::array<std::uint8_t, 256> kCharClasses = make_classes();

bool all(CharClass wanted, std::string_view text) {
  unsigned shared = wanted;  // no exit from the loop: most texts are short and right
  for (const char c : text) shared &= kCharClasses[static_cast<unsigned char>(c)];
  return shared == wanted;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lower(c);
  return result;
}

std::optional<std::uint64_t> parse_decimal(std::string_view text) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  if (text.empty()) return {};
  std::uint64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return {};
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (number >= kMost / 10 && (number > kMost / 10 || digit > kMost % 10)) return {};
    number = number * 10 + digit;
  }
  return number;
}

void append_decimal(std::string& out, std::uint64_t number) {
  std::array<char, 20> digits;  // not initialized
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), written.ptr);
}

PieceWriter& PieceWriter::write_past(std::string_view piece) {
  flush();
  out_.append(piece);
  return *this;
}

}  // namespace proxy::http
