// The disk as the second tier below the store.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "digest/key.hpp"
#include "proxy/cache/asked_counts.hpp"
#include "proxy/cache/disk/disk.hpp"
#include "proxy/cache/disk/read_pool.hpp"
#include "proxy/cache/disk_tier/disk_blocks.hpp"
#include "proxy/cache/disk_tier/entry_reader.hpp"
#include "proxy/cache/disk_tier/entry_writer.hpp"
#include "proxy/cache/disk_tier/selectors.hpp"
#include "proxy/cache/store.hpp"

namespace proxy::cache {

// Whether a response is admitted to the disk at the first or at the second request for its URL.
enum class Admit : std::uint8_t { first, second };

// Admits every response, or only those whose URL was requested twice, so that responses requested
// once do not wear the disk. Any thread, but apply() is for one.
class Admission {
 public:
  Admission(Budget& budget, Admit at) : budget_(budget) { apply(at); }

  // Later calls decide by `at`. Once requests are counted, the counts and their memory stay.
  void apply(Admit at) {
    const bool on_second = at == Admit::second;
    if (on_second && !counts_) {
      counts_ = std::make_unique<AskedCounts>(budget_, AskedCounts::fitting(budget_.limit()));
    }
    asked_.store(on_second ? counts_.get() : nullptr, std::memory_order_release);
  }

  bool is_on_second() const { return asked() != nullptr; }
  // Records that a client requested the URL.
  void record_asked(const digest::Key& url_key) {
    if (auto* const counts = asked()) counts->record(url_key);
  }
  // Whether a response of this URL is admitted. DiskTier also admits a response that replaces one
  // on disk.
  bool admits(const digest::Key& url_key) const {
    const auto* const counts = asked();
    return !counts || counts->of(url_key) >= 2;
  }
  void count_refused() { refused_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  AskedCounts* asked() const { return asked_.load(std::memory_order_acquire); }

  Budget& budget_;
  std::unique_ptr<AskedCounts> counts_;
  std::atomic<AskedCounts*> asked_ = nullptr;  // null: every response is admitted
  std::atomic<std::uint64_t> refused_ = 0;
};

// Reads from disk under way, so that a second request for the same entry waits for the first read.
// Any thread.
class Readings {
 public:
  struct End {
    Readings* readings;
    void operator()(const digest::Key* key) const {
      readings->end(*key);
      delete key;
    }
  };
  // The right to read the entry of a key, for as long as this object exists. Null: another request
  // has the right.
  using ReadRight = std::unique_ptr<const digest::Key, End>;

  // Takes the right. If another request has it, returns null, and calls `over` when that
  // request's right ends. `over` must be brief, and may run on any thread.
  [[nodiscard]] ReadRight begin(const digest::Key& key, std::function<void()> over)
      EXCLUDES(mutex_) {
    const threads::MutexLock lock(mutex_);
    const auto [place, is_new] = waiting_.try_emplace(key);
    if (is_new) return ReadRight(new digest::Key(key), End{this});
    place->second.push_back(std::move(over));
    return ReadRight(nullptr, End{this});
  }

 private:
  void end(const digest::Key& key) EXCLUDES(mutex_) {
    std::vector<std::function<void()>> over;
    {
      const threads::MutexLock lock(mutex_);
      over = std::move(waiting_.extract(key).mapped());
    }
    for (const auto& tell : over) tell();
  }

  threads::Mutex mutex_;
  std::unordered_map<digest::Key, std::vector<std::function<void()>>, digest::KeyHash> waiting_
      GUARDED_BY(mutex_);
};

struct DiskLimits {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::uint32_t segment_bytes = std::uint32_t{64} << 20;  // at most: see disk::kWantedSegments
  Admit admit = Admit::first;
  KeptElsewhere kept_elsewhere = {};  // as for the Store
};

// How many segment files, and so descriptors, a cache of this size has.
std::uint64_t segments_of(std::uint64_t bytes);

// Writes responses to the disk later, and reads back responses that memory lacks. Stores only whole
// responses and large objects. The index takes at most half of the budget: beyond that the oldest
// segments are reclaimed. Any thread; if several threads put and purge under one key, the last call
// takes effect.
class DiskTier {
 public:
  // How long a request waits for a read from the disk. Then it continues without the disk.
  static constexpr std::chrono::milliseconds kReadLimit{2'000};

  // `reading`: which URLs a purge by prefix covers. `random`: see Disk. Budget and clock outlive
  // the tier.
  DiskTier(Budget& budget, machine::Clock& clock, DiskLimits limits,
           disk::PurgeRules::Reading reading, const digest::RandomWords& random);

  // See Disk::start().
  using InUse = disk::Disk::InUse;
  disk::Result<disk::Loaded> start(InUse in_use = InUse::fails) { return disk_.start(in_use); }
  // See Disk::end(). Reads go on. Returns whether the disk answered.
  bool release() { return disk_.end() == disk::Writer::End::joined; }
  // After this call, entries that were used in `memory` count as used when space is reclaimed.
  // Variants count only by look-ups on disk. Once a body of EntryReader::kLeftFrom bytes or more is
  // written, `memory` gives it up: the page cache has it, and responses send it from its file. The
  // memory outlives the tier, or stop().
  void sit_under(Store& memory) { memory_ = &memory; }
  enum class Stopped : std::uint8_t {
    yes,
    hangs,  // the disk does not answer: a job or `done` may still run, so the process must end
  };
  // Ends reads, and writes the waiting records. After `yes` no job and no `done` runs.
  [[nodiscard]] Stopped stop();
  // See Disk::state(). The tier also rests while reads hang.
  disk::State state() const;

  // Whether read() may find something: one look-up, under one lock.
  bool may_have(const disk::Key& url_key) const {
    return disk_.catalog().index.find(url_key).has_value();
  }
  // Reads the entry for a request with these fields, checks it, charges its bytes, and makes room
  // for them in `memory`, which does not have the entry yet. `would_block`: read again with
  // Wait::yes, as a job of post(). `corrupt`: the record is dropped; the caller logs that. Other
  // errors count as a miss.
  struct Sought {
    const disk::Key& key;  // of the URL
    std::string_view url;
    const http::Fields& request;
  };
  disk::Result<ReadBack> read(const Sought& sought, Store& memory, disk::Wait wait,
                              Bodies bodies = Bodies::in_memory);
  // Reads a body that was left in its file. As EntryReader::read_body(); a damaged record is
  // dropped.
  disk::Result<Body> read_body(const disk::StoredBody& stored, Store& memory, disk::Wait wait) {
    return reader_.read_body(stored, memory, wait);
  }
  // Whether read() would find the same records now: false if they were purged or replaced since.
  bool still_found(const ReadBack& read, std::string_view url) const;
  // The reads that wait for the disk, at most one for each key.
  Readings& readings() { return readings_; }
  // Runs the job on a thread that may wait for the disk.
  using Posted = disk::ReadPool::Posted;
  [[nodiscard]] Posted post(disk::ReadPool::Job job) { return pool_->post(std::move(job)); }
  // Whether a read takes longer than kReadLimit. Nothing should be read until it ends.
  bool hangs() const { return pool_->hangs(kReadLimit); }

  // Waits until nothing is being read or written. Returns whether that came about within `limit`.
  // For tests.
  [[nodiscard]] bool settle(std::chrono::milliseconds limit);

  // Applies new settings. `bytes`: the most bytes of all files. `admit`: which responses are
  // written. Also fits the most entries of the index to the present limit of the memory's budget.
  // Returns Disk::resize()'s result.
  disk::Result<void> resize(std::uint64_t bytes, Admit admit);

  // Applies a step of the clock as disk::Catalog::apply_clock() does. If this returns true, the
  // caller drops from memory all entries of earlier runs.
  bool follow_clock(std::chrono::milliseconds ahead);

  Admission& admission() { return admission_; }
  const Admission& admission() const { return admission_; }
  // Whether a response of this URL may be put: it is admitted, or replaces a response on disk.
  bool admits(const disk::Key& url_key) const {
    return admission_.admits(url_key) || may_have(url_key);
  }
  // Bytes of the longest body that put() takes in one piece.
  std::uint64_t most_whole() const { return writer_.most_whole(); }

  // Queues the response in place of the one that the same requests select. `superseded`: see
  // EntryWriter::write(). `stored_above` stores the entry in memory if it still may be stored, and
  // returns whether it may. put() writes the entry to disk only then, and returns that result. It
  // calls `stored_above` under a lock that purge() takes too, so that no purge runs between memory
  // and disk, and both have the same last entry. If the entry cannot be written (a part, too large,
  // the queue full), the old entry is still removed from the disk.
  bool put(const disk::Key& url_key, const Kept& response, const Kept& superseded,
           const std::function<bool()>& stored_above);

  // Whether the block is on disk or queued for it.
  bool has_block(const disk::Key& block_key) const {
    return blocks_.unwritten(block_key) || (disk_.catalog().index.find(block_key) && !hangs());
  }
  DiskBlocks& blocks() { return blocks_; }

  enum class Purge : std::uint8_t {
    queued,   // `done` is called when the purge is written
    nothing,  // the disk has no record of the URL
  };
  // The log has a record of each purge of a URL that the disk holds. With `what_is_not_held` it has
  // one of every purge, and the next start knows of all of them (disk::LatelyPurged).
  enum class Also : std::uint8_t { nothing, what_is_not_held };
  // Purges all variants.
  Purge purge(const disk::Key& url_key, disk::Done done, Also also = Also::nothing);
  // Purges all URLs that the text covers. `busy`: too many such purges are under way.
  // See Disk::purge_prefix().
  disk::Result<void> purge_all(std::string_view text, disk::Done done,
                               disk::PurgeRules::Room room = disk::PurgeRules::Room::shared);

  // Charges the memory of index, rules and queue to the budget. For one thread, regularly.
  void charge();

  disk::Disk& disk() { return disk_; }
  const disk::Disk& disk() const { return disk_; }

 private:
  // The selector in the record, which the tier remembers; empty: the record is damaged.
  std::optional<Selector> selector_in(const ReadBack::Seen& seen, const disk::Location& at,
                                      const disk::StoredRecord& stored);
  void give_up_copy(const disk::Key& key, const disk::Key& key_on_disk, const Entry& entry);

  Budget& budget_;
  std::atomic<Store*> memory_ = nullptr;
  Admission admission_;
  EntryReader reader_{budget_, disk_};
  EntryWriter writer_;
  Selectors selectors_;
  DiskBlocks blocks_;
  disk::Disk disk_;  // destroyed before the members above, which `done` may use on its thread
  std::uint64_t charged_ = 0;
  Readings readings_;
  std::optional<disk::ReadPool> pool_;
};

}  // namespace proxy::cache
