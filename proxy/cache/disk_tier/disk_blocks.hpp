// Blocks of large objects, on disk.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "config/threads/mutex.hpp"
#include "proxy/cache/disk/disk.hpp"
#include "proxy/cache/disk_tier/entry_reader.hpp"
#include "proxy/cache/disk_tier/entry_writer.hpp"

namespace proxy::cache {

// Any thread.
class DiskBlocks {
 public:
  // All arguments outlive this object.
  DiskBlocks(Budget& budget, disk::Disk& disk, EntryReader& reader)
      : budget_(budget), disk_(disk), reader_(reader) {}

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

 private:
  void forget(const disk::Key& key, const Ref<const Entry>& block) EXCLUDES(mutex_);

  Budget& budget_;
  disk::Disk& disk_;
  EntryReader& reader_;
  mutable threads::Mutex mutex_;
  std::unordered_map<disk::Key, Ref<const Entry>, digest::KeyHash> unwritten_ GUARDED_BY(mutex_);
};

}  // namespace proxy::cache
