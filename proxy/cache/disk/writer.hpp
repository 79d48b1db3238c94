// The thread that writes to the disk.
#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "proxy/cache/disk/backoff.hpp"
#include "proxy/cache/disk/catalog/catalog.hpp"
#include "proxy/cache/disk/log/log.hpp"
#include "proxy/cache/disk/options.hpp"
#include "proxy/cache/disk/owed_purges.hpp"
#include "proxy/cache/disk/write_queue.hpp"
#include "proxy/cache/disk/writer_watch.hpp"

namespace proxy::cache::disk {

// Owns the log, which no other thread touches. After a failure it rests and tries again by itself;
// a purge that could not be written then is the first thing to be written.
class Writer {
 public:
  // `limits` have passed segment_bytes_for(). All outlive the writer.
  Writer(const Options& options, const LogLimits& limits, Catalog& catalog, WriteQueue& queue,
         WriterWatch& watch);
  // As stop().
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Starts the thread, which reads the directory first. The result of that may come much later.
  // Once, or again after stop().
  std::future<Result<Loaded>> start();
  // Has the thread write what waits, and joins it. Waits for the disk without limit.
  void stop();
  enum class End : std::uint8_t {
    joined,
    hangs,  // the disk does not answer; this object cannot be destroyed before it does
  };
  // The same, unless the writer hangs.
  [[nodiscard]] End end();

  // For a record.done, which is called on the writer's thread: this purge must be written before
  // anything else, as the record that would have taken its place was not.
  void owe(NewRecord purge) { owed_.add(std::move(purge)); }

 private:
  void run(std::promise<Result<Loaded>> loaded);
  Result<Loaded> load();
  bool work(WriteQueue::Batch batch);
  void end_log();

  void write(std::vector<NewRecord> records);
  void write_one(NewRecord record);
  NewRecord owed_unless_written(NewRecord purge);
  void flush(bool any);
  void pay_owed();
  void purge_everything();

  bool look_after();
  void doubt(const std::vector<WriteQueue::Doubt>& doubts);
  void suspend_claims_of_long_search();
  void rest(Error reason);
  void recover();

  const Options& options_;
  Catalog& catalog_;
  WriteQueue& queue_;
  WriterWatch& watch_;

  // The thread's alone.
  Log log_;
  OwedPurges owed_;
  Backoff backoff_;
  WriterWatch::Clock::time_point looked_after_{};
  std::optional<WriterWatch::Clock::time_point> searching_since_;  // while there are purge rules

  std::thread thread_;
};

}  // namespace proxy::cache::disk
