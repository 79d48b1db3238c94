// A record on its way to the disk.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/cache/disk/format/error.hpp"
#include "proxy/cache/disk/format/format.hpp"

namespace proxy::cache::disk {

// Bytes, and the object that owns them.
struct Piece {
  std::shared_ptr<const void> owner;
  Bytes bytes;
};

struct NewRecord {
  // The caller sets kind, flags, key, claimable_until, version, block and times. The appender sets
  // position, lengths and checksums.
  RecordHeader header;
  std::string url;
  std::string head;
  std::vector<Piece> body = {};
  // For a newer head: where the entry must be found for this record to count. That record has the
  // body, or refers to it.
  std::optional<Position> replaces = std::nullopt;
  // For a newer head: the body. Reclaiming may copy the replaced entry elsewhere before this record
  // is written; then head and body are written as one record.
  std::optional<std::vector<Piece>> body_if_moved = std::nullopt;
  // Told the record's position once it is written and found there, else why it is not. Called on
  // the writer's thread; must be brief and must not wait for the writer. May be empty.
  std::function<void(Result<Position>)> done = {};

  // Memory that the record takes in the writer's queue.
  std::uint64_t footprint() const;
  // Bytes of a segment that the record takes at most.
  std::uint64_t most_bytes() const;
};

std::uint64_t size_of(const std::vector<Piece>& pieces);

}  // namespace proxy::cache::disk
