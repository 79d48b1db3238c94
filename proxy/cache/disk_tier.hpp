// The disk under the memory: what is stored is written behind, what memory lacks is read back.
#pragma once

#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "proxy/cache/asked_twice.hpp"
#include "proxy/cache/disk/disk.hpp"
#include "proxy/cache/disk/read_pool.hpp"
#include "proxy/cache/readings.hpp"
#include "proxy/cache/saved_head.hpp"
#include "proxy/cache/store.hpp"

namespace proxy::cache {

struct DiskLimits {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::uint32_t segment_bytes = std::uint32_t{64} << 20;  // at most: see disk::kWantedSegments
  bool admit_on_second = false;                           // only what is asked for again
};

// How many files that makes.
std::uint64_t segments_of(std::uint64_t bytes);

// What was read back from the disk.
struct ReadBack {
  struct Seen {
    disk::Key key;
    disk::Position at;
  };

  std::shared_ptr<const Entry> entry;  // null: nothing that answers this request
  bool varies = false;                 // the URL is there, but in no variant that matches
  std::optional<Seen> by;              // what it was found by: the URL's own record,
  std::optional<Seen> variant;         // and that of the variant
};

// Any thread. The index takes at most half of the budget: beyond, the oldest segments go. Whole
// responses only, and large objects; the caller says what is stored and what is
// purged, in whatever order threads do so, and for each key the disk tells of what came last: a
// response that is put after a purge was noted, but asked for before, is told from others by
// who puts it into memory.
class DiskTier {
 public:
  // `reading`: which URLs a purge of many covers.
  DiskTier(Budget& budget, DiskLimits limits, disk::PurgeRules::Reading reading);
  DiskTier(const DiskTier&) = delete;
  DiskTier& operator=(const DiskTier&) = delete;

  // As Disk::start().
  disk::Result<disk::Loaded> start() { return disk_.start(); }
  // From now on what was used in that memory counts as used when space is reclaimed; variants only
  // by how they were found on the disk. It outlives this, or stop().
  void sit_under(const Store& memory) { memory_ = &memory; }
  // Ends what is being read, writes what waits: afterwards no job and no `done` runs any more.
  // False: the disk does not answer, and one may run yet whenever it does: only the end of the
  // process is left.
  bool stop();

  // Whether it is worth to read(): takes a lock for one look-up.
  bool may_have(const disk::Key& url_key) const {
    return disk_.catalog().index.find(url_key).has_value();
  }
  // What answers a request with these fields, whole and checked, its bytes charged and room made
  // for them in `memory`, which does not have it yet. `would_block`: read again with Wait::yes, as
  // a job of post(). `corrupt`: what was there is dropped, and for the log. Else nothing is found.
  disk::Result<ReadBack> read(const disk::Key& url_key, std::string_view url,
                              const http::Fields& request, Store& memory, disk::Wait wait);
  // Whether that is still what is found, so that it was not purged or replaced meanwhile.
  bool still_found(const ReadBack& read, std::string_view url) const;
  // For reads that have to wait.
  Readings& readings() { return readings_; }
  // On a thread that may wait. False: too many wait already.
  [[nodiscard]] bool post(disk::ReadPool::Job job) { return pool_->post(std::move(job)); }
  // Who waits for such a read longer than this goes on without.
  static constexpr std::chrono::milliseconds kReadLimit{2'000};
  // Whether one takes longer than that: then nothing is to be read until it is back.
  bool hangs() const { return pool_->hangs(kReadLimit); }
  // As Disk::state(), and resting while reads hang.
  disk::State state() const;

  // Where only that is admitted which is asked for again: somebody asks for the URL.
  bool admits_on_second() const { return asked_twice_.has_value(); }
  void note_asked(const disk::Key& url_key) {
    if (asked_twice_) asked_twice_->note(url_key);
  }
  // Whether a response of this URL may be put: it was asked for twice, or is on disk already.
  bool admits(const disk::Key& url_key) const {
    return !asked_twice_ || asked_twice_->holds(url_key) || may_have(url_key);
  }
  // Of one body in one piece that may be put later.
  std::uint64_t most_whole() const;
  void count_not_admitted() { not_admitted_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t not_admitted() const { return not_admitted_.load(std::memory_order_relaxed); }

  // Writes it behind, in place of what the same requests select. `superseded`: what it is a newer
  // head of, if its body is that one's: then the head alone is written. Does nothing, and returns
  // false, unless stored_above(), which puts it into memory if it still may be stored. That is
  // called under a lock that purge() takes too: no purge comes between it and the record, and of
  // what is put under one key memory and disk have the same last. What cannot be written (parts,
  // too large, too much waits) still puts an end to what was there.
  bool put(const disk::Key& url_key, const std::shared_ptr<const Entry>& entry,
           const Entry* superseded, const std::function<bool()>& stored_above);

  // Whether segments have room for blocks of large objects.
  bool takes_blocks() const { return disk_.most_bytes() >= kBlockBytes + kFixed; }
  std::uint64_t new_version() { return disk_.new_version(); }
  // Whether it is there, or about to be.
  bool has_block(const disk::Key& block_key) const {
    return unwritten(block_key) || (disk_.catalog().index.find(block_key) && !hangs());
  }
  // The block that waits to be written, else null: it is found here when memory has given it up.
  std::shared_ptr<const Entry> unwritten(const disk::Key& block_key) const;
  // Writes it behind. False: not taken.
  bool put_block(const disk::Key& url_key, std::uint32_t number, const Entry& object,
                 const std::shared_ptr<const Entry>& block);
  // As read(), and null where it is not there. One that is damaged is dropped for good.
  disk::Result<std::shared_ptr<const Entry>> read_block(const disk::Key& url_key,
                                                        std::uint32_t number, const Entry& object,
                                                        Store& memory, disk::Wait wait);

  // All variants. True: `done` will be told when a record says so. False: there was nothing.
  bool purge(const disk::Key& url_key, disk::Done done);
  // All that the text covers. `busy`: too many such purges are being carried out.
  disk::Result<void> purge_all(std::string_view text, disk::Done done);

  // Charges to the budget what index and queue take now; for a thread that comes by regularly.
  void charge();

  disk::Disk& disk() { return disk_; }
  const disk::Disk& disk() const { return disk_; }

 private:
  static constexpr std::size_t kMostKnown = 4096;
  static constexpr std::size_t kLocks = 32;        // all are held at once, and TSan counts up to 64
  static constexpr std::size_t kMostNames = 1024;  // bytes of what Vary names; else memory's alone
  // What is known of the selector that leads to variants of a URL, so that what is put next goes
  // by it too. Another URL may push it out: it is read again, if that takes no waiting;
  // else variants that are on disk are lost.
  struct Known {
    disk::Key url;
    Selector selector;
    disk::RecordHeader record;  // its last one, whose claim counts
  };

  // What is around the text of a record, generously.
  static constexpr std::uint64_t kFixed = 64 * 1024;

  std::size_t place_of(const disk::Key& url_key) const;
  std::mutex& lock_of(const disk::Key& url_key) { return locks_[place_of(url_key) % kLocks]; }
  void note(const ReadBack::Seen& seen, std::string_view url, const Selector& selector,
            const disk::RecordHeader& record);
  void learn_selector(const disk::Key& url_key, std::string_view url);
  Known& selector_for(const disk::Key& url_key, std::string_view url, std::string names);
  bool put_variant(const disk::Key& url_key, const std::shared_ptr<const Entry>& entry,
                   const Entry* superseded);
  void put_selector(Known& known, const disk::Key& variant, const Entry& entry);

  disk::Result<disk::StoredRecord> open(ReadBack::Seen& seen, const disk::Location& place,
                                        std::string_view url, disk::Wait wait);
  disk::Result<ReadBack> read_entry(ReadBack read, const disk::StoredRecord& stored,
                                    SavedHead saved, Store& memory, disk::Wait wait);
  disk::Result<Body> read_body(const disk::StoredRecord& stored, Store& memory, disk::Wait wait);
  bool worth(const Entry& entry) const;
  // Whether it is taken.
  bool write(const disk::Key& key, const std::shared_ptr<const Entry>& entry,
             const Entry* superseded, std::uint64_t selector);
  bool write_object(disk::NewRecord record, const Entry& entry, const Entry* superseded);
  static std::vector<disk::Piece> pieces_of(const std::shared_ptr<const Entry>& entry);

  Budget& budget_;
  std::atomic<const Store*> memory_ = nullptr;
  mutable std::mutex unwritten_mutex_;
  std::unordered_map<disk::Key, std::shared_ptr<const Entry>, digest::KeyHash> unwritten_;
  disk::Disk disk_;
  std::array<std::mutex, kLocks> locks_;
  std::vector<std::optional<Known>> known_;  // guarded by locks_
  std::uint64_t charged_ = 0;
  std::optional<AskedTwice> asked_twice_;
  std::atomic<std::uint64_t> not_admitted_ = 0;
  Readings readings_;
  std::optional<disk::ReadPool> pool_{std::in_place};
};

}  // namespace proxy::cache
