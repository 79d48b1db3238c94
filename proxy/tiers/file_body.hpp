// Bodies, and blocks of objects, that go from the disk's files to the client, without a copy in our
// memory.
//
// A response may send a body from its segment's file (net::Stream::send_file) on two conditions.
// The page cache has the body, and the proxy has verified the body's checksum during its present
// stay there. So the response sends the same pages that were verified. A stay lasts as long as each
// look finds all pages (disk::Residency), but no longer than CheckedBodies::kReliedUpon. After that
// the proxy verifies the body again.
//
// A body does not take memory in both places. Once it is written, the memory tier gives it up
// (DiskTier::sit_under). If it has left the page cache, the proxy reads it into the memory tier
// instead.
//
// Why the bytes stay whole on their way: nothing writes to bytes of a segment once a record is
// found there. A reclaimed segment's file is emptied at once, so that it takes no disk space
// however long a client takes. The kernel then drops whole pages from the file, and leaves their
// bytes as they are; what was sent already has its own references to these pages. Before that, the
// disk's writer lets each response that is under way read its body into memory
// (disk::SegmentUsers), and the rest is sent from there. So it does before it leaves the directory
// to another process. If memory has no room, the response with a whole body is cut. The rest of a
// block is then read or fetched as every other block (blocks/block_source).
#pragma once

#include <memory>

#include "peers/threads/mutex.hpp"
#include "proxy/cache/body.hpp"
#include "proxy/cache/disk/stored_record.hpp"

namespace proxy::tiers {

struct Tiers;

// A body in its file on disk. Any thread may call any function.
class FileBody final : public cache::disk::SegmentUser {
 public:
  // Makes the body of the record. Null: its segment is being reclaimed.
  static std::shared_ptr<FileBody> of(Tiers& tiers, cache::disk::StoredBody stored);
  FileBody(Tiers& tiers, cache::disk::StoredBody stored)
      : tiers_(tiers), stored_(std::move(stored)) {}

  [[nodiscard]] const cache::disk::StoredBody& stored() const { return stored_; }
  [[nodiscard]] std::uint64_t size() const { return stored_.size; }
  // Reads the whole body into memory and verifies it, if memory has room. Waits for the disk.
  void save() override EXCLUDES(mutex_);
  // The body in memory; null: the file has it.
  [[nodiscard]] std::shared_ptr<const cache::Body> saved() const EXCLUDES(mutex_);

 private:
  Tiers& tiers_;
  const cache::disk::StoredBody stored_;
  mutable threads::Mutex mutex_;
  std::shared_ptr<const cache::Body> saved_ GUARDED_BY(mutex_);
};

}  // namespace proxy::tiers
