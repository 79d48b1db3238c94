// What a segment file holds, from its footer or, where it has none that is good, by replay.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "proxy/cache/disk/format/file.hpp"
#include "proxy/cache/disk/format/footer.hpp"

namespace proxy::cache::disk {

struct Scanned {
  std::vector<Listed> records;
  std::uint64_t end = 0;  // of the last record, filled up
  std::uint64_t file_bytes = 0;
  // In the log before it and up to its end (format.hpp), where that is known.
  std::optional<std::uint16_t> purges_before = std::nullopt;
  std::optional<std::uint16_t> purges = std::nullopt;
  bool other_version = false;  // then the rest is empty
  bool sealed = false;         // told by its footer
  bool damaged = false;        // something is there that is neither record nor footer
  bool cut = false;            // at its end, by a crash
};

// Whether the log before it had other purges than the `known` ones: some were lost with a segment.
inline bool lost_a_purge(std::optional<std::uint16_t> known, const Scanned& next) {
  return known && next.purges_before && *known != *next.purges_before;
}

// An error is one of the system: nothing is known of the file then.
Result<Scanned> scan(const File& file, std::uint32_t segment);

}  // namespace proxy::cache::disk
