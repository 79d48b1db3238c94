// Bytes of an open file, to be sent.
#pragma once

#include <cstdint>

namespace proxy::net {

struct FilePart {
  int descriptor = -1;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

}  // namespace proxy::net
