// The records of a segment that has no footer, found one behind the other.
#pragma once

#include <cstdint>
#include <vector>

#include "proxy/cache/disk/footer.hpp"

namespace proxy::cache::disk {

struct Replayed {
  std::vector<Listed> records;
  std::uint64_t end = kSegmentHeaderBytes;  // where the next record would begin
  bool cut = false;                         // something else than zeros follows there
};

// `file` is the whole segment, its header too, which is not looked at. Ends at the first record
// that is not whole and undamaged, body included: nothing behind that is believed.
Replayed replay(Bytes file, std::uint32_t segment);

}  // namespace proxy::cache::disk
