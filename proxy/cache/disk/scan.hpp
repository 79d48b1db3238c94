// What a segment file holds, from its footer or, where it has none that is good, by replay.
#pragma once

#include <cstdint>
#include <vector>

#include "proxy/cache/disk/file.hpp"
#include "proxy/cache/disk/footer.hpp"

namespace proxy::cache::disk {

struct Scanned {
  std::vector<Listed> records;
  std::uint64_t end = 0;  // of the last record, filled up
  std::uint64_t file_bytes = 0;
  bool other_version = false;  // then the rest is empty
  bool sealed = false;         // told by its footer
  bool damaged = false;        // something is there that is neither record nor footer
};

// An error is one of the system: nothing is known of the file then.
Result<Scanned> scan(const File& file, std::uint32_t segment);

}  // namespace proxy::cache::disk
