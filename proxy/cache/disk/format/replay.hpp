// Finds the records of a segment that has no good footer, one after the other.
//
// A damaged record is skipped where its length is sure: its head is good, or good with one bit of
// the header flipped, or its length leads to a good record or to the end of the file. Otherwise
// replay searches for the next good record. That one may lie inside a body, forged by its sender:
// so from there on records only take away (purges count), and no entry is found. Whether purges
// were lost in the gap shows in the number that the next good record has of them. Where very many
// bytes were tried in vain, as a sender has forged many headers, replay gives up, and no record
// before counts either: so a segment costs no more than to read it a few times.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "proxy/cache/disk/format/footer.hpp"

namespace proxy::cache::disk {

struct Replayed {
  // In order. RecordKind::lost and ::unknown stand for records that are damaged or not believed.
  std::vector<Listed> records;
  std::uint64_t end = kSegmentHeaderBytes;  // where the next record would begin
  std::optional<std::uint16_t> purges;      // in the log up to `end`, where known
  bool any = false;                         // there is a good record
  bool damaged = false;
  bool cut = false;  // at `end` a record or footer begins and is not complete, or zeros follow
};

// `file`: the whole segment with its header, which is not read. `purges`: from the header, where it
// is good.
Replayed replay(Bytes file, std::uint32_t segment, std::optional<std::uint16_t> purges);

}  // namespace proxy::cache::disk
