#include "tests/fuzz/proxy/script.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace fuzz {
namespace {

constexpr std::size_t kMostSteps = 48;
constexpr std::size_t kMostFill = std::size_t{3} << 20;

// Varies with the place, so that a piece of a body in a wrong place shows.
char pattern(std::size_t at, std::size_t step) {
  return static_cast<char>('a' + (at * 7 + at / 251 + at / 65521 + step * 13) % 26);
}

// Removes and returns the text before the next `mark`, and the mark.
std::string_view take_until(std::string_view& rest, char mark) {
  const auto text = rest.substr(0, rest.find(mark));
  rest.remove_prefix(std::min(rest.size(), text.size() + 1));
  return text;
}

std::string filled(std::string_view text, std::size_t step, std::size_t& left) {
  std::string bytes(take_until(text, kFill));
  while (!text.empty()) {
    std::size_t count = 0;
    const auto number = text.substr(0, text.find(';'));
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), count);
    if (error == std::errc() && end == number.data() + number.size()) {
      text.remove_prefix(std::min(text.size(), number.size() + 1));
      count = std::min(count, left);
      left -= count;
      for (std::size_t at = 0; at < count; ++at) bytes += pattern(at, step);
    }
    bytes += take_until(text, kFill);
  }
  return bytes;
}

}  // namespace

Script read_script(std::string_view input) {
  Script script{std::string(take_until(input, kStep)), {}};
  std::size_t left = kMostFill;
  while (!input.empty() && script.steps.size() < kMostSteps) {
    const auto text = take_until(input, kStep);
    if (text.empty()) continue;
    script.steps.push_back({text[0], filled(text.substr(1), script.steps.size(), left)});
  }
  return script;
}

}  // namespace fuzz
