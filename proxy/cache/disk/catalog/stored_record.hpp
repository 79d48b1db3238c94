// A record read back from the disk.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "proxy/cache/disk/catalog/location.hpp"
#include "proxy/cache/disk/catalog/segments.hpp"

namespace proxy::cache::disk {

// A record whose head is in memory and checked. Its body, if it has one, is read into memory of the
// caller's. Any thread may use it, one at a time.
class StoredRecord {
 public:
  // Reads what lies at `place`, and checks that it is what is found under this key. `gone`: the
  // segment was reclaimed, which is a miss; `corrupt`: drop the entry and say so. A newer head is
  // followed to the body it is for.
  static Result<StoredRecord> open(const Segments& segments, const Key& key, const Location& place,
                                   Wait wait);

  const RecordHeader& header() const { return front_.header; }
  std::string_view url() const { return front_.text(0, front_.header.url_bytes); }
  std::string_view head() const {
    return front_.text(front_.header.url_bytes, front_.header.head_bytes);
  }

  // Where the body's own record lies: that of a newer head is elsewhere.
  Position body_at() const { return body_front().header.at; }
  std::uint32_t body_bytes() const { return body_front().header.body_bytes; }
  // The whole body, into pieces that have just its length together. Checked: after an error what is
  // in them must not be used.
  Result<void> read_body(std::span<const std::span<std::uint8_t>> into, Wait wait) const;
  Result<void> read_body(std::span<std::uint8_t> into, Wait wait) const;
  // Whether the whole body is as it was written, read a piece after the other.
  Result<void> check_body(Wait wait) const;

 private:
  // The beginning of a record, up to the end of the head at least.
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
  Front base_;  // of a newer head: the record it is for
};

}  // namespace proxy::cache::disk
