// The thread that writes to the disk.
#pragma once

#include <boost/core/noncopyable.hpp>
#include <cstdint>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "proxy/cache/disk/catalog.hpp"
#include "proxy/cache/disk/log.hpp"
#include "proxy/cache/disk/options.hpp"
#include "proxy/cache/disk/pace.hpp"
#include "proxy/cache/disk/stored_record.hpp"
#include "proxy/cache/disk/write_queue.hpp"

namespace proxy::cache::disk {

// Owns the log; no other thread uses it. After a failure the writer rests and then tries again by
// itself. Purges that could not be written before are the first records that it writes then.
class Writer : boost::noncopyable {
 public:
  // `limits` have passed segment_bytes_for(). All outlive the writer.
  Writer(const Options& options, const LogLimits& limits, Catalog& catalog, WriteQueue& queue,
         WriterWatch& watch);
  // Stops the writer as stop() does.
  ~Writer();

  // Starts the thread, which reads the directory first. The future gets the result, perhaps much
  // later. Call it once; after stop() and end() it may be called again. `hangs`: not started, since
  // a thread that hung in end() hangs still.
  std::future<Result<Loaded>> start();
  // Lets the thread write all that waits, and joins it. Waits for the disk without limit.
  void stop();
  enum class End : std::uint8_t {
    joined,
    hangs,  // the disk does not answer, and this object cannot be destroyed before it does
  };
  // Stops as stop() does, but returns if the writer hangs.
  [[nodiscard]] End end();

  // Sets the size of the log: soon, while the disk works. Any thread.
  void resize(const LogSize& size) EXCLUDES(size_mutex_);

  // Adds a purge that is owed: a record that would have replaced an entry could not be written, so
  // the entry must not return. The purge counts in memory at once. If too many purges are owed, one
  // purge of everything replaces them. Call this only from record.done, on the writer's thread.
  void owe(NewRecord purge);

 private:
  // Purges that could not be written. They have to be written before any other record: the next
  // start knows only the log, and an entry that was purged in memory only would be back.
  struct Owed {
    std::vector<NewRecord> records;
    bool directory_left = false;  // it is gone; another one may appear in its place
    // Whether a purge was written after the directory had gone. The purge may be in another
    // directory then, so the first one may lack it when it is back.
    bool written_elsewhere = false;
  };

  void run(std::promise<Result<Loaded>> loaded);
  Result<Loaded> load();
  bool work(WriteQueue::Batch batch);
  void end_log();

  void write(std::vector<NewRecord> records);
  void write_one(NewRecord record);
  NewRecord owed_unless_written(NewRecord purge);
  void flush(std::size_t records);
  void owe_everything();
  void pay_owed();
  void purge_everything();

  bool look_after();
  Result<bool> apply_size() EXCLUDES(size_mutex_);
  void doubt(const std::vector<WriteQueue::Doubt>& doubts);
  void suspend_claims_of_long_search();
  // If it failed, rests. Returns whether it worked.
  bool rest_unless(const Result<void>& worked);
  void rest(Error reason);
  void recover();

  const Options& options_;
  Catalog& catalog_;
  WriteQueue& queue_;
  WriterWatch& watch_;

  threads::Mutex size_mutex_;
  LogSize wanted_size_ GUARDED_BY(size_mutex_);

  // Only the writer's thread uses the members below.
  Log log_;
  Owed owed_;
  Backoff backoff_;
  machine::Clock::SteadyTime looked_after_{};
  std::optional<machine::Clock::SteadyTime> searching_since_;  // while there are purge rules

  std::thread thread_;
};

}  // namespace proxy::cache::disk
