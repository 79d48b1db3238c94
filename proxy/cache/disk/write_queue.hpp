// The records that wait to be written, and bounds for them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "peers/threads/mutex.hpp"
#include "proxy/cache/disk/catalog.hpp"
#include "proxy/cache/disk/options.hpp"
#include "proxy/cache/disk/pace.hpp"
#include "proxy/cache/disk/stored_record.hpp"

namespace proxy::cache::disk {

// Any thread adds records. The writer's thread takes all at once.
//
// Two bounds keep a record from waiting much longer than a second:
// - Bytes. Blocks may use Options::queue_bytes; small records 4 times as much; newer heads, objects
//   and purges 8 times as much.
// - Time. Blocks are refused while the disk would need more than an eighth of a second to write
//   what waits; small records at 4 times as long; newer heads and objects at 8 times as long.
//   Purges have no bound in time. This bound applies only after writes have shown the pace of the
//   disk, or while a step of the writer takes long.
// If nothing waits, a record is never refused.
class WriteQueue {
 public:
  // An object's key and version: the writer is to review the object's claim (ObjectClaims).
  using Doubt = std::pair<Key, std::uint64_t>;
  static constexpr Key kAnyObject{};  // in a doubt: every object

  // Work for the writer.
  struct Batch {
    std::vector<NewRecord> records;
    std::vector<Doubt> doubts;
    bool overflowed = false;  // a purge had no room: the writer is to purge everything
    bool urgent = false;      // the writer is not to wait for more records

    bool empty() const { return records.empty() && doubts.empty() && !overflowed; }
  };

  // All references outlive the queue.
  WriteQueue(const Options& options, Catalog& catalog, const WriterWatch& watch)
      : options_(options), catalog_(catalog), watch_(watch) {}

  // Any thread. `busy`: a bound is reached; `resting`: the writer rests, or is told to end. After
  // these errors record.done is not called.
  Result<void> append(NewRecord record) EXCLUDES(mutex_);
  // Never refuses. If the queue has no room, a rule that covers everything applies at once, the
  // writer is asked to purge everything, and record.done gets `busy`. If the writer has ended, or
  // ends before it takes the record, the record waits for the next start, and record.done gets an
  // error now.
  void purge(NewRecord record) EXCLUDES(mutex_);
  // Asks the writer to review the claim of an object: a block was lost, or blocks were added, so
  // that all may be here. Drops the doubt if very many wait already,
  // since the writer hangs then; a later doubt of the same object repeats it.
  void doubt(const Key& object, std::uint64_t version) EXCLUDES(mutex_);
  // Memory of the records.
  std::uint64_t bytes() const EXCLUDES(mutex_);
  // Calls `taken` once, on the writer's thread, when at most `more_than` bytes wait. Does not call
  // it if so few wait already, or if the writer rests, hangs or has ended. `more_than` is reduced
  // if blocks are refused while that much waits.
  enum class Notice : std::uint8_t { follows, none };
  Notice when_taken(std::uint64_t more_than, std::function<void()> taken) EXCLUDES(mutex_);
  // Waits until all records are written and the writer has nothing else to do. The writer takes
  // them at once. Returns whether that came about within `limit`. For tests.
  bool settle(std::chrono::milliseconds limit) EXCLUDES(mutex_);

  // The thread that starts and stops the writer calls the next three functions.
  void open() EXCLUDES(mutex_);
  // Tells the writer to take all that waits, and then to end. The writer calls take() only once
  // more, so that no flood of purges keeps it from ending.
  void stop() EXCLUDES(mutex_);
  // Waits for the writer to end. Returns whether it ended within `limit`.
  bool ended(std::chrono::milliseconds limit) EXCLUDES(mutex_);

  // The others are for the writer's thread. Waits for work, but no longer than `longest`; not at
  // all if that is 0. Nothing: the writer is to end.
  std::optional<Batch> take(std::chrono::nanoseconds longest) EXCLUDES(mutex_);
  // Records of this many bytes were written, or have failed. `pace`: of all writes so far.
  void release(std::uint64_t bytes, const WritePace& pace) EXCLUDES(mutex_);
  // The writer has finished the batch, and has no other work left.
  void finish() EXCLUDES(mutex_);
  void end() EXCLUDES(mutex_);

 private:
  struct Waiter {  // of when_taken()
    std::uint64_t more_than;
    std::function<void()> taken;
  };

  bool has_room_for(const NewRecord& record) const REQUIRES(mutex_);
  std::uint64_t bytes_soon() const REQUIRES(mutex_);
  // Returns whether the record had room.
  bool add_purge(NewRecord& record) EXCLUDES(mutex_);
  void push(NewRecord record) REQUIRES(mutex_);
  bool is_urgent() const REQUIRES(mutex_);

  const Options& options_;
  Catalog& catalog_;
  const WriterWatch& watch_;

  mutable threads::Mutex mutex_{threads::Place::second};
  threads::Condition changed_;
  Batch pending_ GUARDED_BY(mutex_);
  std::uint64_t bytes_ GUARDED_BY(mutex_) = 0;  // also of taken records that are not written yet
  WritePace pace_ GUARDED_BY(mutex_);
  std::vector<Waiter> waiters_ GUARDED_BY(mutex_);
  bool idle_ GUARDED_BY(mutex_) = false;  // the writer has nothing to do
  // `last_taken`: take() has returned the last records, after stop().
  enum class Phase : std::uint8_t { open, stopping, last_taken, ended };
  Phase phase_ GUARDED_BY(mutex_) = Phase::open;
};

}  // namespace proxy::cache::disk
