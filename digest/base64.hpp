// Bytes as text, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace digest {

// More text than the largest filter needs.
inline constexpr std::size_t kMostBase64 = std::size_t{1} << 30;

// Encodes as RFC 4648 section 4 says: padded, no line breaks. At most 768 MiB.
std::string to_base64(std::span<const std::uint8_t> bytes);

// Decodes `text`, which may come from anywhere. Returns nothing unless to_base64() produces exactly
// this text: the unused bits must be zero too (section 3.5). Nothing for over kMostBase64.
std::optional<std::vector<std::uint8_t>> from_base64(std::string_view text);

}  // namespace digest
