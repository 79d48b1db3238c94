// The records of a segment that has no good footer, found one behind the other.
//
// Behind a damaged record it goes on where it is sure how long that is: its head is good, or is so
// with one bit of its header turned over, or its length leads to a good record or to the end of the
// file. Else it looks for a good record further on: as such a one may be part of a body, made up by
// whoever sent that, nothing behind is found any more, and only what it takes away counts. Whether
// purges were lost in between is told by their number in the next good record. Where very much was
// looked at that is no record, as somebody made such up, nothing counts any more from there on, nor
// what is before it: a segment takes no longer than it takes to read it a few times.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "proxy/cache/disk/format/footer.hpp"

namespace proxy::cache::disk {

struct Replayed {
  // One behind the other. Kind::lost and Kind::unknown are damaged, or not believed.
  std::vector<Listed> records;
  std::uint64_t end = kSegmentHeaderBytes;  // where the next record would begin
  std::optional<std::uint16_t> purges;      // in the log up to there, if that is known
  bool any = false;                         // there is a good record
  bool damaged = false;
  bool cut = false;  // the beginning of a record or of a footer follows there, or zeros
};

// `file` is the whole segment, its header too, which is not looked at. `purges`: as that says, if
// it is good.
Replayed replay(Bytes file, std::uint32_t segment, std::optional<std::uint16_t> purges);

}  // namespace proxy::cache::disk
