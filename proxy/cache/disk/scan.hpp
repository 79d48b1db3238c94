// Lists the records of a segment file: from its footer or, without a good one, by replay.
//
// Replay finds the records of a segment that has no good footer, one after the other.
//
// If the length of a damaged record is sure, replay skips that record and continues behind it. The
// length is sure if the head is good, or good after one bit of the header is flipped, or if the
// length leads to a good record or to the end of the file.
//
// Otherwise replay searches for the next good record. The record that it finds may lie inside a
// body, where the body's sender forged it. So from there on replay accepts only what removes
// entries: purges count, and every other record is listed as lost.
//
// Each record has the number of purges before it (format.hpp). If the next good record has another
// number than expected, purges were lost in the damage, and no record before it counts.
//
// A sender may forge so many headers that the search would take very long. After a fixed number of
// bytes tried in vain replay gives up, and no record before that point counts. So replay costs no
// more than to read the segment a few times.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "proxy/cache/disk/file.hpp"
#include "proxy/cache/disk/format.hpp"

namespace proxy::cache::disk {

struct Scanned {
  // In order. RecordKind::lost and ::unknown stand for records that are damaged, or that a sender
  // may have forged.
  std::vector<Listed> records;
  std::uint64_t end = 0;  // of the last record and the gap after it
  std::uint64_t file_bytes = 0;
  // The number of purges in the log before the segment, and up to `end` (format.hpp), if known.
  std::optional<std::uint16_t> purges_before = std::nullopt;
  std::optional<std::uint16_t> purges = std::nullopt;
  ClockMark clock = {};
  bool other_version = false;  // of the format: then nothing else is read
  bool sealed = false;         // it has a good footer
  bool any = false;            // replay found a good record
  bool damaged = false;        // it has bytes before `end` that are neither record nor footer
  bool cut = false;            // a crash cut its end: at `end` a record or footer begins and is not
                               // complete, or zeros follow
};

// `file`: the whole segment, with its header; replay does not read the header. `purges`: the number
// of purges before the segment, if the header is good.
// Sets records, end, purges, any, damaged and cut.
Scanned replay(Bytes file, std::uint32_t segment, std::optional<std::uint16_t> purges);

// Whether purges were lost with a segment: the header of `next` has another number of purges than
// the log up to the segment before it (`known`).
inline bool lost_a_purge(std::optional<std::uint16_t> known, const Scanned& next) {
  return known && next.purges_before && *known != *next.purges_before;
}

// Fails only if the system cannot read the file; damage is no error.
Result<Scanned> scan(const File& file, std::uint32_t segment);

}  // namespace proxy::cache::disk
