// The cache on disk: finds, reads, and writes behind.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "proxy/cache/disk/log.hpp"
#include "proxy/cache/disk/stored.hpp"

namespace proxy::cache::disk {

struct Options {
  std::filesystem::path path;
  LogLimits log;
  // Blocks are taken while no more waits to be written, nor more than the disk takes in an eighth
  // of a second; what is small while no more than four times that does, and newer heads and the
  // entries of large objects while no more than eight times. Purges are bounded by bytes alone. So
  // what is taken is written within about a second where the disk takes a MB in one; a slower one
  // still gets some. Until the first writes have shown its pace, or that it has become slow, the
  // bounds are those of bytes.
  std::uint64_t queue_bytes = std::uint64_t{32} << 20;
  // A record waits so long for others to be written with: a switch of threads for each costs more
  // than to write it. A purge does not, nor what is much.
  std::chrono::milliseconds gather{5};
  // After a failure, until the first attempt to go on; doubled each time, up to the second.
  std::chrono::milliseconds first_rest{1'000};
  std::chrono::milliseconds longest_rest{30'000};
  std::chrono::milliseconds longest_start{2'000};  // that start() waits for
  // Which URLs a purge of many covers.
  PurgeRules::Reading purge_reading = PurgeRules::as_prefix;
};

struct State {
  bool working = false;  // else it rests: finds what it can, takes nothing, and tries again
  Error reason = Error::resting;  // why it rests
};

using Done = std::function<void(Result<void>)>;

// Any thread. What is found here was written, and is read back with its checksums verified; what
// is not written yet is for the memory to hold. The disk never is a reason to fail: whatever
// happens to it, it rests, the cache is empty or smaller meanwhile, and it goes on by itself.
class Disk {
 public:
  explicit Disk(Options options);
  ~Disk();
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  // Starts the writer, which reads the directory first; returns when that is done. `in_use` and
  // `too_small`: not started, a setting has to be changed. After any other error it rests, and is
  // tried again. `hangs`: it takes longer than Options::longest_start, and what it finds counts
  // once it is done. Once, or again after `in_use`.
  Result<Loaded> start();
  // Writes what waits, and seals the newest segment; for good. So does the destructor.
  void stop();
  // The same. False: the disk does not answer; this cannot be destroyed before it does.
  [[nodiscard]] bool end();

  // What is found of this key, which counts as a use; nothing while a purge of it waits to be
  // written. With `url` the rules of purges by prefix are
  // heeded; that the record is of this URL is the reader's to compare.
  std::optional<Place> find(const Key& key, std::string_view url);
  // Whether what was found there still is, and not purged since: for who keeps what was read
  // elsewhere, to be asked once it is there.
  bool holds(const Key& key, std::string_view url, Position at) const;
  // Reads what was found. An entry that turns out corrupt, or without its body, is dropped and
  // counted. `would_block`: call again with Wait::yes on a thread that may wait (ReadPool).
  Result<Stored> open(const Key& key, const Place& place, Wait wait);
  Result<void> read_body(const Stored& stored, std::span<const std::span<std::uint8_t>> into,
                         Wait wait);

  // Reads what was found, head and body, for nobody, and waits for the disk: what turns out damaged
  // is dropped and counted, too. `url`: whose it is, where that is sure. `gone`: it was dropped or
  // written again meanwhile.
  Result<void> check(const Key& key, const Place& place, std::string& url);

  // For who makes nothing of what was read back: drops and counts it as corrupt, which it returns.
  Error discard(const Key& key, const Place& place);

  // Queues it. It is found under its key once record.done is told so, about a second later at the
  // latest (Options::queue_bytes). `busy`, as that would take longer, or `resting`: not taken, and
  // record.done is not called.
  Result<void> append(Record record);

  // The same for what takes the place of what is found under the key, which goes at once; where it
  // is not taken, that is purged.
  Result<void> replace(Record record);
  // And for a newer head of it: what is found stays found meanwhile, and is purged where this is
  // not taken or cannot be written.
  Result<void> freshen(Record record);
  // Whether something may be found under the key, now or once what waits is written.
  bool may_hold(const Key& key) const;

  // What is held under the key goes at once, what waits to be written with the record that says so;
  // `done` is told when that is written, and a crash leaves it so: until then no answer may claim
  // it. After an error it is owed, counts in memory, and is written when the disk is back. Where
  // too many wait, as the disk hangs, that is owed as a purge of everything: `done` is told `busy`
  // at once.
  void purge(const Key& key, Done done);
  // All keys whose record has a URL that the text covers (Options::purge_reading), at once by a
  // rule, by a search as time allows. What is found to be covered before the search is there is
  // claimed no more, and nothing is where that takes longer than kClaimsMeanwhile. `busy`: there
  // are as many rules as PurgeRules has room for.
  Result<void> purge_prefix(std::string_view text, Done done);

  // A block was lost of the object of this URL and version: at once nobody is told any more that
  // all of it is here, and soon a record says so.
  void lose_block(const Key& object, std::uint64_t version);
  // Some were written: it may be told of from now on, if all are here.
  void review_claim(const Key& object, std::uint64_t version);

  // For the version of a large object: never the same twice, across starts too.
  std::uint64_t new_version();

  // It rests too while the writer hangs.
  State state() const;
  // True once all that was queued before is written, and no search is left to do; false if that
  // takes longer than `limit`.
  bool settle(std::chrono::milliseconds limit);

  // The longest record that a segment has room for: URL, head and body together.
  std::uint64_t most_bytes() const;

  Index& index() { return index_; }
  const Index& index() const { return index_; }
  const Counters& counters() const { return counters_; }
  std::size_t rules_bytes() const { return rules_.bytes(); }
  void count_slow_read() { counters_.slow_reads += 1; }
  std::size_t segments() const { return segments_.count(); }
  std::uint64_t used_bytes() const { return used_.load(std::memory_order_relaxed); }
  // Whether more than that waits to be written, or so much that few more blocks will be taken, on a
  // disk that works: then `taken` is called once, soon, on the writer's thread, when no more than
  // that does. Not while it hangs.
  bool when_taken(std::uint64_t more_than, std::function<void()> taken);
  std::uint64_t queued_bytes() const;

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr std::chrono::seconds kClaimsMeanwhile{1};
  static constexpr std::size_t kInFlight = 4096;
  using InFlight = std::array<std::atomic<std::uint32_t>, kInFlight>;
  bool purging(const Key& key) const { return purging_[slot_of(key)].load() > 0; }
  static std::size_t slot_of(const Key& key) {
    return (key.bytes[0] | key.bytes[1] << 8) % kInFlight;
  }

  // How long the writer may take for one step, on a slow disk.
  static constexpr std::chrono::seconds kLongestStep{10};

  bool has_room_for(const Record& record) const;
  std::uint64_t bytes_soon() const;
  Clock::duration in_step() const;
  void queue(Record record);
  void queue_purge(Record record);
  void purge_unless_written(Record& record);
  bool working() const;
  bool hangs() const;
  void begin_step();
  LogLimits in_steps(LogLimits limits);
  void load();
  void purge_everything();
  void run();
  bool wait_for_work(std::unique_lock<std::mutex>& lock);
  bool is_urgent() const;
  void write(std::vector<Record> records);
  void flush(bool any);
  void write_one(Record record);
  void take_off_queue(std::uint64_t bytes);
  void owe(Record record);
  void owe_everything();
  void pay_owed();
  bool look_after();
  void judge_claims();
  void rest(Error reason);
  void recover();
  bool drop(const Key& key, const Place& place, Error reason);  // whether it was there
  void lose_any_block();
  static constexpr Key kAnyObject{};  // in place of a URL's
  void doubt(const std::vector<std::pair<Key, std::uint64_t>>& doubts);

  const Options options_;
  Index index_;
  Segments segments_;
  PurgeRules rules_;
  Counters counters_;
  std::atomic<bool> ready_ = false;  // the index is complete
  // After a failure, or where a start could not read all: a purge is written in any case.
  std::atomic<bool> log_may_have_more_ = false;
  std::atomic<std::uint64_t> used_ = 0;
  std::atomic<Clock::rep> step_begun_ = 0;  // the writer's; 0: it waits for work
  std::atomic<std::uint64_t> versions_;
  InFlight in_flight_{};  // records taken and not written yet, by their key's hash
  InFlight purging_{};    // purges among them: what lies before them may come to the index yet

  Log log_;  // the writer's alone, as what follows
  std::vector<Record> owed_;
  bool went_ = false;              // the directory did, and may be back some day
  bool purged_elsewhere_ = false;  // something was, and is owed no more
  std::chrono::milliseconds next_rest_;
  Clock::time_point looked_after_{};
  std::optional<Clock::time_point> searching_since_;  // while there are rules

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Record> queue_;  // guarded, as what follows
  std::uint64_t queued_bytes_ = 0;
  WritePace pace_;
  struct Waiting {
    std::uint64_t more_than;
    std::function<void()> taken;
  };
  std::vector<Waiting> wait_for_room_;                 // when_taken()
  std::vector<std::pair<Key, std::uint64_t>> doubts_;  // objects and versions, for the log
  State state_;
  std::optional<Result<Loaded>> started_;  // none: the directory is being read
  Clock::time_point resume_at_{};
  bool stopping_ = false;
  bool idle_ = false;
  bool more_ = true;         // the log may have more to look at
  bool hurry_ = false;       // for what is in the queue
  bool overflowed_ = false;  // purges were too many for the queue
  bool ended_ = false;
  std::thread writer_;
};

}  // namespace proxy::cache::disk
