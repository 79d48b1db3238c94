// The selectors of responses with Vary on disk. The selector under the URL's key leads to the
// variants.
#pragma once

#include <array>
#include <boost/core/noncopyable.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "peers/threads/mutex.hpp"
#include "proxy/cache/disk/disk.hpp"
#include "proxy/cache/disk_tier/entry_reader.hpp"
#include "proxy/cache/disk_tier/entry_writer.hpp"
#include "proxy/cache/saved_head.hpp"

namespace proxy::cache {

// Has a lock for each URL's key, and remembers the selectors of some URLs, so that a new variant
// gets the selector that leads to the others. A selector that is not remembered any more is read
// again if that takes no waiting; else the variants on disk are lost. Any thread.
class Selectors {
  static constexpr std::size_t kLocks = 32;  // all are held at once; TSan counts up to 64
  struct UrlLock : threads::Mutex {
    UrlLock() : Mutex(threads::Place::first) {}
  };
  using Locks = std::array<UrlLock, kLocks>;

 public:
  // All references outlive this object. `most`: how many selectors are remembered.
  Selectors(disk::Disk& disk, EntryReader& reader, EntryWriter& writer, std::size_t most)
      : disk_(disk), reader_(reader), writer_(writer), known_(most) {}
  // How many selectors to remember: as many as fit into 1/64 of the memory, from 64 to 4096.
  static std::size_t fitting(std::uint64_t memory_bytes);

  // Several keys share a lock.
  threads::Mutex& lock_of(const disk::Key& url_key) { return locks_[slot_of(url_key) % kLocks]; }
  // Holds the locks of all keys, which the thread-safety analysis cannot count.
  class AllLocked : boost::noncopyable {
   public:
    explicit AllLocked(Selectors& selectors) NO_THREAD_SAFETY_ANALYSIS : locks_(selectors.locks_) {
      for (auto& lock : locks_) lock.lock_beside_others();
    }
    ~AllLocked() NO_THREAD_SAFETY_ANALYSIS {
      for (auto& lock : locks_) lock.unlock();
    }

   private:
    Locks& locks_;
  };

  // Remembers a selector that was read, unless it was purged since. Takes the key's lock.
  void record(const ReadBack::Seen& seen, std::string_view url, const Selector& selector,
              const disk::RecordHeader& record);
  // The caller holds the key's lock for these.
  void forget(const disk::Key& url_key);
  void put_variant(const disk::Key& url_key, const Kept& response, const Kept& superseded);

  std::uint64_t bytes() const { return known_.size() * sizeof(known_[0]); }

 private:
  // Bytes of field names in Vary. A response with more stays in memory only.
  static constexpr std::size_t kMostNames = 1024;
  struct Known {
    disk::Key url;
    Selector selector;
    disk::RecordHeader record;  // the last one written, whose claim counts
  };

  std::size_t slot_of(const disk::Key& url_key) const {
    return digest::part_of(url_key, known_.size());
  }
  void read_back(const disk::Key& url_key, std::string_view url);
  Known& selector_for(const disk::Key& url_key, std::string_view url, std::string names);
  void put_selector(Known& known, const disk::Key& variant, const Entry& entry);

  disk::Disk& disk_;
  EntryReader& reader_;
  EntryWriter& writer_;
  Locks locks_;
  // Each element is guarded by the lock of its keys, which the annotations cannot say.
  std::vector<std::optional<Known>> known_;
};

}  // namespace proxy::cache
