// A record on its way to the disk.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/cache/disk/file.hpp"
#include "proxy/cache/disk/format.hpp"

namespace proxy::cache::disk {

// Bytes, and the object that owns them.
struct RecordPiece {
  std::shared_ptr<const void> owner;
  Bytes bytes;
};

inline std::uint64_t size_of(const std::vector<RecordPiece>& pieces) {
  std::uint64_t bytes = 0;
  for (const RecordPiece& piece : pieces) bytes += piece.bytes.size();
  return bytes;
}

struct NewRecord {
  // The caller sets kind, flags, key, claimable_until, version, block and times. The appender sets
  // position, lengths and checksums.
  RecordHeader header;
  std::string url = {};
  std::string head = {};
  std::vector<RecordPiece> body = {};
  // For a newer head: the position of the entry that it replaces. The head counts only if the entry
  // is still there. The record at this position has the body, or is itself a newer head for it.
  std::optional<Position> replaces = std::nullopt;
  // For a newer head: the body, if it is in memory. Reclaiming may copy the replaced entry before
  // this record is written; then head and body are written as one record.
  std::optional<std::vector<RecordPiece>> body_if_moved = std::nullopt;
  // Called with the record's position once look-ups find it there, else with the error. Called on
  // the writer's thread: it must be brief, and must not wait for the writer. May be empty.
  std::function<void(Result<Position>)> done = {};

  // Memory that the record takes in the writer's queue.
  std::uint64_t footprint() const {
    return sizeof(NewRecord) + url.capacity() + head.capacity() +
           body.size() * sizeof(RecordPiece) + size_of(body);
  }
  // The most bytes of a segment that the record may take.
  std::uint64_t most_bytes() const {
    const auto content = size_of(body_if_moved ? *body_if_moved : body);
    return kRecordHeaderBytes + url.size() + head.size() + content;
  }
};

}  // namespace proxy::cache::disk
