// The file of a saved digest, read no further than its first bytes allow.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "digest/file_format.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {

enum class Form : std::uint8_t { filter, text, native, squid };

// By how it begins. What begins as none of ours is taken for Squid's, which has no mark.
Form form_of(std::span<const std::uint8_t> bytes);

// "bloom" and so on; empty for a kind that this program does not know.
std::string_view name_of(digest::FilterKind kind);

// "PLACE: a KIND filter or digest that cannot be used: WHY".
Trouble unusable(std::string_view place, std::string_view kind, std::string_view why);

struct DigestFile {
  std::uint64_t size = 0;
  std::vector<std::uint8_t>
      bytes;  // only the first of a filter that is mapped, or of no known kind
};

// Blocks, but never for a writer. An error before anything is allocated if it is no ordinary file,
// larger than any digest of its form, or not as long as it says.
Result<DigestFile> read_digest_file(const std::string& path);

}  // namespace proxy::command
