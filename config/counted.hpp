// Numbers with their nouns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace config {

// "1 entry", "2 entries".
inline std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
  return std::to_string(number).append(" ").append(number == 1 ? one : many);
}
// "1 request", "2 requests".
inline std::string counted(std::uint64_t number, std::string_view one) {
  return counted(number, one, std::string(one) + 's');
}

}  // namespace config
