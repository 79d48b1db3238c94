#include "proxy/http/text.hpp"

#include <limits>

namespace proxy::http {
namespace {

constexpr std::array<std::uint8_t, 256> make_classes() {
  constexpr std::string_view kAlphanumeric =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::array<std::uint8_t, 256> table{};
  const auto add = [&table](std::string_view bytes, unsigned classes) {
    for (const char c : bytes) table[static_cast<unsigned char>(c)] |= std::uint8_t(classes);
  };
  for (std::size_t c = 0x21; c < 256; ++c) {
    if (c == 0x7f) continue;
    table[c] = kValueChar | kTargetChar | kEtagChar;
    if (c < 0x7f) table[c] |= kAsIsChar;
  }
  table['#'] = kValueChar | kEtagChar;
  table['"'] = kValueChar | kTargetChar | kAsIsChar;
  add(" \t", kValueChar);
  add(kAlphanumeric, kTokenChar | kHostChar);
  add("!#$%&'*+-.^_`|~", kTokenChar);
  add("-._~", kHostChar);
  add("0123456789", kDigit | kHex);
  add("abcdefABCDEF", kHex);
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
    // Asked before the number is multiplied, since it would wrap around.
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

void append_percent_encoded(std::string& out, char byte) {
  constexpr std::string_view kHexDigits = "0123456789ABCDEF";
  const auto number = static_cast<unsigned char>(byte);
  ((out += '%') += kHexDigits[number >> 4]) += kHexDigits[number & 15];
}

PieceWriter& PieceWriter::write_past(std::string_view piece) {
  flush();
  out_.append(piece);
  return *this;
}

}  // namespace proxy::http
