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

// A letter, a digit, or a sign whose percent-encoding servers take for the same.
bool is_the_same_decoded(char c) {
  constexpr std::string_view kSigns = "-._~+@:";
  return is_letter(c) || is(kDigit, c) || kSigns.find(c) != kSigns.npos;
}

// Of a hexadecimal digit.
unsigned value_of(char digit) {
  return static_cast<unsigned>(is(kDigit, digit) ? digit - '0' : lower(digit) - 'a' + 10);
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

bool is_well_encoded(std::string_view text) {
  for (auto at = text.find('%'); at != text.npos; at = text.find('%', at + 1)) {
    if (leading(kHex, text.substr(at + 1, 2)).size() < 2) return false;
  }
  return true;
}

void normalize_encodings(std::string& text, std::size_t begin, std::size_t end) {
  // What is decoded behind a single "%" would seem to be encoded.
  if (!is_well_encoded(std::string_view(text).substr(begin, end - begin))) return;
  auto out = begin;
  for (auto at = begin; at < text.size(); ++at) {
    if (text[at] != '%' || at >= end) {
      text[out++] = text[at];
      continue;
    }
    const auto byte = static_cast<char>(value_of(text[at + 1]) << 4 | value_of(text[at + 2]));
    at += 2;
    std::string spelled(1, byte);
    if (!is_the_same_decoded(byte)) append_percent_encoded(spelled = {}, byte);
    out += spelled.copy(&text[out], spelled.size());
  }
  text.resize(out);
}

}  // namespace proxy::http
