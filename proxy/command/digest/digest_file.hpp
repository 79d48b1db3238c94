// Reads the file of a saved digest, within the limits that its first bytes set.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "digest/file_format.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {

enum class FileForm : std::uint8_t { filter, text, native, squid };

// The form that the first bytes indicate. Squid's form has no magic number, so it stands for all
// other beginnings.
FileForm form_of(std::span<const std::uint8_t> bytes);

// "bloom", "counting", ...; empty for a kind that this program does not know.
std::string_view name_of(digest::FilterKind kind);

// "PLACE: a KIND filter or digest that cannot be used: WHY".
Trouble unusable_digest(std::string_view place, std::string_view kind, std::string_view why);

struct DigestFile {
  std::uint64_t size = 0;
  // The whole file; for a mapped filter, and for a filter of no known kind, only the beginning.
  std::vector<std::uint8_t> bytes;
};

// Reads the file. May wait for the disk, but never for the writer of a pipe. Returns trouble before
// it allocates memory if the path is no ordinary file, or if the file is larger than any digest of
// its form, or not as long as its envelope says.
Result<DigestFile> read_digest_file(const std::string& path);

}  // namespace proxy::command
