// Bytes as text, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace digest {

// Encodes as RFC 4648 section 4 says: padded, no line breaks.
std::string to_base64(std::span<const std::uint8_t> bytes);

// Decodes `text`, which may come from anywhere. Returns nothing unless to_base64() produces exactly
// this text: the unused bits must be zero too (section 3.5).
std::optional<std::vector<std::uint8_t>> from_base64(std::string_view text);

}  // namespace digest
