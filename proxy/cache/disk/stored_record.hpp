// A record on its way to the disk; a record read back from it, and its body in the segment's file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/cache/disk/file.hpp"
#include "proxy/cache/disk/format.hpp"
#include "proxy/cache/disk/index.hpp"
#include "proxy/cache/disk/segments.hpp"

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
  // The position of the entry that a newer head replaces. The head counts only if the entry is
  // still there. The record at this position has the body, or is itself a newer head for it.
  std::optional<Position> replaces = std::nullopt;
  // The body of a newer head, if it is in memory. Reclaiming may copy the replaced entry before
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

// Where a body is, and how it is checked. The body's bytes stay as they are until the disk empties
// the file. Before that, the disk lets the segment's users save the body (SegmentUsers). Any
// thread.
struct StoredBody {
  Key key{};         // of the entry
  Position front{};  // of the record that look-ups of the key find
  Position at{};     // of the record that has the body: another one if `front` is a newer head
  std::uint64_t offset = 0;  // of the body, in the segment's file
  std::uint32_t size = 0;
  std::uint32_t checksum = 0;
  std::shared_ptr<const Segment> segment;  // that has the body

  // Whether the page cache has the whole body.
  bool in_page_cache() const { return segment->residency.has(offset, size); }
  // Reads and checks the whole body. The pieces together must have the length of the body. After an
  // error their content must not be used. `begin`: the first bytes of the body, if the caller has
  // them already.
  Result<void> read(std::span<const std::span<std::uint8_t>> into, Wait wait,
                    Bytes begin = {}) const;
  // Checks the whole body, with little memory: reads it in small pieces.
  Result<void> check(Wait wait) const;
};

// A record whose head is in memory and checked. The body is read into the caller's memory. Any
// thread, but one at a time.
class StoredRecord {
 public:
  // Reads the head of the record at this location, and checks that the record has this key. For a
  // newer head, opens the record with the body, too. `gone`: the segment was reclaimed; treat it as
  // a miss. `corrupt`: drop the entry and count it. `would_block`: only with Wait::no.
  static Result<StoredRecord> open(const Segments& segments, const Key& key, const Location& place,
                                   Wait wait);

  // The header, with its times as the program counts them (RecordTimes).
  const RecordHeader& header() const { return front_.header; }
  std::string_view url() const { return front_.text(0, front_.header.url_bytes); }
  std::string_view head() const {
    return front_.text(front_.header.url_bytes, front_.header.head_bytes);
  }

  // The position of the record that has the body. A record with a newer head has none; its body is
  // in an older record.
  Position body_at() const { return body_front().header.at; }
  std::uint32_t body_bytes() const { return body_front().header.body_bytes; }
  StoredBody body_in_file() const;
  // The segment of the record that has the head.
  const std::shared_ptr<const Segment>& segment() const { return front_.segment; }
  // Reads and checks the whole body. The pieces together must have the length of the body. After an
  // error their content must not be used.
  Result<void> read_body(std::span<const std::span<std::uint8_t>> into, Wait wait) const;
  Result<void> read_body(std::span<std::uint8_t> into, Wait wait) const;

 private:
  // The beginning of a record, at least up to the end of its head.
  struct Front {
    RecordHeader header;
    std::unique_ptr<std::uint8_t[]> bytes;
    std::size_t size = 0;
    std::shared_ptr<const Segment> segment;

    std::string_view text(std::size_t offset, std::size_t length) const {
      return {reinterpret_cast<const char*>(&bytes[kRecordHeaderBytes + offset]), length};
    }
  };

  StoredRecord(Front front, Front base) : front_(std::move(front)), base_(std::move(base)) {}

  static Result<Front> open_front(const Segments& segments, Position at, std::uint32_t bytes,
                                  Wait wait);
  const Front& body_front() const { return base_.bytes ? base_ : front_; }

  Front front_;
  Front base_;  // for a newer head: the record with the body
};

}  // namespace proxy::cache::disk
