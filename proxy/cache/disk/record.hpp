// A record on its way to the disk.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/cache/disk/error.hpp"
#include "proxy/cache/disk/format.hpp"

namespace proxy::cache::disk {

// Bytes, and what keeps them there.
struct Piece {
  std::shared_ptr<const void> owner;
  Bytes bytes;
};

struct Record {
  // What it is: kind, flags, key, claimable_until, version, block and times are the caller's; where
  // it lies, its lengths and its checksum are filled in when it is written.
  RecordHeader header;
  std::string url;
  std::string head;
  std::vector<Piece> body = {};
  // Only if the key is still found there: for a newer head, whose body lies there or is that
  // head's.
  std::optional<Position> replaces = std::nullopt;
  // Of such a newer head: the body. What it replaces may be copied elsewhere before its turn comes;
  // then both are written as one.
  std::optional<std::vector<Piece>> body_if_moved = std::nullopt;
  // Told where it lies once write() has taken it and it is found there, or why it does not. On the
  // writer's thread: brief, and without calls that wait for the writer. May be empty.
  std::function<void(Result<Position>)> done = {};

  // What it takes of the writer's queue, and at most of a segment.
  std::uint64_t footprint() const;
  std::uint64_t most_bytes() const;
};

inline Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace proxy::cache::disk
