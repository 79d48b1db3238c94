// What waits to be written, with its bounds.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "config/threads/mutex.hpp"
#include "proxy/cache/disk/catalog/catalog.hpp"
#include "proxy/cache/disk/log/new_record.hpp"
#include "proxy/cache/disk/log/write_pace.hpp"
#include "proxy/cache/disk/options.hpp"
#include "proxy/cache/disk/writer_watch.hpp"

namespace proxy::cache::disk {

// Any thread adds, the writer's thread takes all at once.
//
// Two bounds keep a record from waiting much longer than a second. In bytes: blocks may use
// Options::queue_bytes, small records 4 times that, newer heads, objects and purges 8 times. In
// time: blocks are refused while more waits than the disk writes in an eighth of a second, small
// records at 4 times that, newer heads and objects at 8 times; purges have no bound in time. A
// record is always taken where nothing waits. The bound in time holds once writes have shown the
// pace of the disk, or a step of the writer takes long.
class WriteQueue {
 public:
  using Doubt = std::pair<Key, std::uint64_t>;  // of the claim of an object: its key and version
  static constexpr Key kAnyObject{};            // in a doubt: of every object

  // Work for the writer.
  struct Batch {
    std::vector<NewRecord> records;
    std::vector<Doubt> doubts;
    bool overflowed = false;  // purges had no room: everything is to be purged
    bool urgent = false;      // not to be kept waiting for more

    bool empty() const { return records.empty() && doubts.empty() && !overflowed; }
  };

  // All outlive the queue.
  WriteQueue(const Options& options, Catalog& catalog, const WriterWatch& watch)
      : options_(options), catalog_(catalog), watch_(watch) {}

  // Any thread. `busy`: a bound is met; `resting`: the writer rests. Then record.done is not
  // called.
  Result<void> append(NewRecord record) EXCLUDES(mutex_);
  // Never refused. Where the queue has no room for it, a rule that covers everything counts at
  // once, the writer is asked to purge everything, and record.done is told `busy`.
  void purge(NewRecord record) EXCLUDES(mutex_);
  // Has the claim of an object reviewed. Dropped where very many wait, as the writer hangs then: a
  // later doubt of the same object has it reviewed.
  void doubt(const Key& object, std::uint64_t version) EXCLUDES(mutex_);
  // Memory that the records take.
  std::uint64_t bytes() const EXCLUDES(mutex_);
  // Calls `taken` once, on the writer's thread, when no more than this waits. False where that is
  // so already, or the writer rests, hangs or has ended: `taken` is not called then. The number
  // counts as less where so much would have blocks refused.
  bool when_taken(std::uint64_t more_than, std::function<void()> taken) EXCLUDES(mutex_);
  // Waits until all is written and the writer has nothing else to do; false after this time.
  bool settle(std::chrono::milliseconds limit) EXCLUDES(mutex_);

  // For whoever starts and stops the writer.
  void open() EXCLUDES(mutex_);
  // The writer is to take what waits, and to end.
  void stop() EXCLUDES(mutex_);
  // Waits so long for the writer to end; false if it has not.
  bool ended(std::chrono::milliseconds limit) EXCLUDES(mutex_);

  // For the writer's thread. Waits until there is work, or until `wake`, or not at all where the
  // writer has `more` to do. Nothing: the writer is to end.
  std::optional<Batch> take(WriterWatch::Clock::time_point wake, bool more) EXCLUDES(mutex_);
  // Records of so many bytes are written, or have failed. `pace`: of all writes so far.
  void release(std::uint64_t bytes, const WritePace& pace) EXCLUDES(mutex_);
  // All that was taken is done; whether the writer has more to do.
  void finish(bool more) EXCLUDES(mutex_);
  void end() EXCLUDES(mutex_);

 private:
  struct Waiter {  // of when_taken()
    std::uint64_t more_than;
    std::function<void()> taken;
  };

  bool has_room_for(const NewRecord& record) const REQUIRES(mutex_);
  std::uint64_t bytes_soon() const REQUIRES(mutex_);
  void push(NewRecord record) REQUIRES(mutex_);
  bool is_urgent() const REQUIRES(mutex_);

  const Options& options_;
  Catalog& catalog_;
  const WriterWatch& watch_;

  mutable threads::Mutex mutex_;
  threads::Condition changed_;
  Batch pending_ GUARDED_BY(mutex_);
  std::uint64_t bytes_ GUARDED_BY(mutex_) = 0;  // also of records that are taken and not written
  WritePace pace_ GUARDED_BY(mutex_);
  std::vector<Waiter> waiters_ GUARDED_BY(mutex_);
  bool idle_ GUARDED_BY(mutex_) = false;  // the writer has nothing to do
  bool stopping_ GUARDED_BY(mutex_) = false;
  bool ended_ GUARDED_BY(mutex_) = false;
};

}  // namespace proxy::cache::disk
