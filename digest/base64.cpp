#include "digest/base64.hpp"

#include <array>

namespace digest {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNone = 0xff;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<std::uint8_t>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}

constexpr auto kValues = make_values();

std::size_t padding_of(std::string_view text) {
  if (text.ends_with("==")) return 2;
  return text.ends_with('=') ? 1 : 0;
}

}  // namespace

std::string to_base64(std::span<const std::uint8_t> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const std::uint8_t byte : bytes) {
    held = held << 8 | byte;
    for (bits += 8; bits >= 6; bits -= 6) text += kAlphabet[held >> (bits - 6) & 63];
  }
  if (bits != 0) text += kAlphabet[held << (6 - bits) & 63];
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

std::optional<std::vector<std::uint8_t>> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  text.remove_suffix(padding_of(text));
  std::vector<std::uint8_t> bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const char digit : text) {
    const std::uint8_t value = kValues[static_cast<std::uint8_t>(digit)];
    if (value == kNone) return std::nullopt;
    held = held << 6 | value;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<std::uint8_t>(held >> bits));
  }
  const bool left_over = (held & ((1U << bits) - 1)) != 0;
  return left_over ? std::nullopt : std::optional(std::move(bytes));
}

}  // namespace digest
