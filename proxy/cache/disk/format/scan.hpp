// Lists the records of a segment file: from its footer or, without a good one, by replay.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "proxy/cache/disk/format/file.hpp"
#include "proxy/cache/disk/format/footer.hpp"

namespace proxy::cache::disk {

struct Scanned {
  std::vector<Listed> records;
  std::uint64_t end = 0;  // of the last record and the zeros behind it
  std::uint64_t file_bytes = 0;
  // Purges in the log before the segment and up to its end (format.hpp), where known.
  std::optional<std::uint16_t> purges_before = std::nullopt;
  std::optional<std::uint16_t> purges = std::nullopt;
  bool other_version = false;  // then the rest is empty
  bool sealed = false;         // it has a good footer
  bool damaged = false;        // it has bytes that are neither record nor footer
  bool cut = false;            // a crash cut its end
};

// Whether the header of `next` counts other purges than are known: some were lost with a segment.
inline bool lost_a_purge(std::optional<std::uint16_t> known, const Scanned& next) {
  return known && next.purges_before && *known != *next.purges_before;
}

// After an error of the system nothing is known of the file.
Result<Scanned> scan(const File& file, std::uint32_t segment);

}  // namespace proxy::cache::disk
