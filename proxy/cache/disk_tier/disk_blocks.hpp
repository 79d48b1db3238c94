// Blocks of large objects, on disk.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "proxy/cache/disk/disk.hpp"
#include "proxy/cache/disk_tier/entry_reader.hpp"
#include "proxy/cache/disk_tier/entry_writer.hpp"

namespace proxy::cache {

// The blocks of objects on disk. Any thread may call any function.
class DiskBlocks {
 public:
  // All references outlive this object.
  DiskBlocks(Budget& budget, disk::Disk& disk, EntryReader& reader, EntryWriter::Written written)
      : budget_(budget), disk_(disk), reader_(reader), written_(std::move(written)) {}

  // Whether segments have room for blocks.
  bool fit() const { return disk_.most_bytes() >= kBlockBytes + EntryWriter::kFixed; }
  using Taken = EntryWriter::Taken;
  // Queues a block of the object, unless it is too large or the queue is full.
  Taken put(const disk::Key& url_key, std::uint32_t number, const Entry& object,
            const Ref<const Entry>& block);
  // The block if it waits to be written, else null. Memory may have evicted it meanwhile. Null also
  // if a purge by prefix or giver covers the block.
  Ref<const Entry> unwritten(const disk::Key& block_key) const EXCLUDES(mutex_);
  // The block; null if the disk lacks it. Errors are those of DiskTier::read(). A damaged block is
  // dropped, and the object is not claimed any more.
  disk::Result<Ref<const Entry>> read(const disk::Key& url_key, std::uint32_t number,
                                      const Entry& object, Store& memory, disk::Wait wait);
  // A block that was left in its file. `giver`: who gave it.
  struct InFile {
    disk::StoredBody body;
    Giver giver;
  };
  // Reads the head of the record alone, and does not wait for the disk. Nothing: the disk lacks the
  // block. `would_block`: the page cache lacks the head.
  disk::Result<std::optional<InFile>> in_file(const disk::Key& url_key, std::uint32_t number,
                                              const Entry& object);

 private:
  // Opens the block's record. Nothing: the disk lacks the block. If the block is missing or
  // damaged, the object is not claimed any more.
  disk::Result<std::optional<disk::StoredRecord>> open(const disk::Key& url_key,
                                                       std::uint32_t number, const Entry& object,
                                                       disk::Wait wait);
  disk::Error failed(const disk::Key& url_key, const Entry& object, disk::Error error);
  void forget(const disk::Key& key, const Ref<const Entry>& block) EXCLUDES(mutex_);

  Budget& budget_;
  disk::Disk& disk_;
  EntryReader& reader_;
  const EntryWriter::Written written_;
  mutable threads::Mutex mutex_;
  std::unordered_map<disk::Key, Ref<const Entry>, digest::KeyHash> unwritten_ GUARDED_BY(mutex_);
};

}  // namespace proxy::cache
