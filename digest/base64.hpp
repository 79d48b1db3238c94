// Bytes as text, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace digest {

// RFC 4648 section 4: padded, no line breaks.
std::string to_base64(std::span<const std::uint8_t> bytes);

// Only what to_base64 makes (section 3.5 too: the bits left over are zero), from anywhere.
std::optional<std::vector<std::uint8_t>> from_base64(std::string_view text);

}  // namespace digest
