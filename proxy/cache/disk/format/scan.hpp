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
  std::uint64_t end = 0;  // of the last record and the gap after it
  std::uint64_t file_bytes = 0;
  // The number of purges in the log before the segment, and up to its end (format.hpp), if known.
  std::optional<std::uint16_t> purges_before = std::nullopt;
  std::optional<std::uint16_t> purges = std::nullopt;
  ClockMark clock = {};
  bool other_version = false;  // of the format: then nothing else is read
  bool sealed = false;         // it has a good footer
  bool damaged = false;        // it has bytes that are neither record nor footer
  bool cut = false;            // a crash cut its end
};

// Whether purges were lost with a segment: the header of `next` has another number of purges than
// the log up to the segment before it (`known`).
inline bool lost_a_purge(std::optional<std::uint16_t> known, const Scanned& next) {
  return known && next.purges_before && *known != *next.purges_before;
}

// Fails only if the system cannot read the file; damage is no error.
Result<Scanned> scan(const File& file, std::uint32_t segment);

}  // namespace proxy::cache::disk
