#include "peers/site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "digest/little_endian.hpp"

namespace peers {
namespace {

constexpr std::size_t kDigits = 16;

bool is_hex_digit(char c) {
  return ('0' <= c && c <= '9') || ('a' <= c && c <= 'f');
}

// The finalizer of SplitMix64: each bit of the result depends on each bit of the word.
std::uint64_t mixed(std::uint64_t word) {
  word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9U;
  word = (word ^ word >> 27) * 0x94D049BB133111EBU;
  return word ^ word >> 31;
}

}  // namespace

std::string to_text(Epoch epoch) {
  return fmt::format("{:016x}", epoch);
}

std::optional<Epoch> parse_epoch(std::string_view text) {
  const bool is_one = text.size() == kDigits && std::all_of(text.begin(), text.end(), is_hex_digit);
  if (!is_one) return std::nullopt;
  Epoch epoch = 0;
  std::from_chars(text.data(), text.data() + text.size(), epoch, 16);
  return epoch;
}

std::uint64_t bid_for(const digest::Key& key, Epoch member) {
  return mixed(digest::load64(key.bytes.data()) ^ mixed(member));
}

}  // namespace peers
