// Bytes that the kernel sends by itself.
#pragma once

#include <cstdint>
#include <optional>

namespace proxy::net {

struct FilePart {
  int descriptor = -1;
  // In an open file. Nothing: the descriptor is a pipe, which gives its next bytes.
  std::optional<std::uint64_t> offset = 0;
  std::uint64_t size = 0;

  void skip(std::uint64_t sent) {
    if (offset) *offset += sent;
    size -= sent;
  }
};

}  // namespace proxy::net
