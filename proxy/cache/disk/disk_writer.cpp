// The writer's thread: what waits is written, what failed is tried again.
#include <algorithm>
#include <utility>

#include "proxy/cache/disk/disk.hpp"

namespace proxy::cache::disk {
namespace {

// How often it looks whether the directory is still there.
constexpr std::chrono::seconds kLookAfter{1};

// Beyond this, one purge of everything is owed instead.
constexpr std::size_t kMostOwed = 65'536;

}  // namespace

Disk::~Disk() {
  stop();
}

void Disk::stop() {
  if (!writer_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  writer_.join();
}

bool Disk::end() {
  constexpr std::chrono::milliseconds kLook{20};
  if (!writer_.joinable()) return true;
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  while (!changed_.wait_for(lock, kLook, [this] { return ended_; })) {
    if (hangs()) return false;
  }
  lock.unlock();
  stop();
  return true;
}

bool Disk::working() const {
  const std::lock_guard lock(mutex_);
  return state_.working;
}

// What is asked of it meanwhile waits, as purges do, or is refused.
void Disk::load() {
  const auto loaded = log_.open(options_.path);
  used_ = log_.used_bytes();
  if (loaded) log_may_have_more_ = loaded->unreadable > 0;
  if (!loaded) rest(loaded.error());
  ready_ = loaded.has_value();
  const std::lock_guard lock(mutex_);
  if (loaded) state_.working = true;
  started_ = loaded;
  step_begun_ = 0;
  changed_.notify_all();
}

void Disk::run() {
  load();
  std::unique_lock lock(mutex_);
  while (wait_for_work(lock)) {
    auto records = std::exchange(queue_, {});
    hurry_ = false;
    const auto doubts = std::exchange(doubts_, {});
    const bool working = state_.working;
    const bool resume = !working && Clock::now() >= resume_at_;
    const bool overflowed = std::exchange(overflowed_, false);
    lock.unlock();
    begin_step();
    if (resume) recover();
    write(std::move(records));
    if (overflowed) purge_everything();
    doubt(doubts);
    const bool more = look_after();
    judge_claims();
    used_ = log_.used_bytes();
    step_begun_ = 0;
    lock.lock();
    more_ = more;
    idle_ = queue_.empty() && doubts_.empty() && !overflowed_ && !more;
    if (idle_) changed_.notify_all();
  }
  lock.unlock();
  begin_step();
  if (!owed_.empty()) recover();  // the next start knows of none
  (void)log_.close();             // what has no footer is replayed
  step_begun_ = 0;
  lock.lock();
  ended_ = true;
  changed_.notify_all();
}

// False when it is to end.
bool Disk::wait_for_work(std::unique_lock<std::mutex>& lock) {
  const auto wake = state_.working ? Clock::now() + kLookAfter : resume_at_;
  changed_.wait_until(lock, wake, [this] { return is_urgent() || !queue_.empty(); });
  if (!queue_.empty()) changed_.wait_for(lock, options_.gather, [this] { return is_urgent(); });
  if (stopping_ && queue_.empty() && doubts_.empty() && !overflowed_) return false;
  idle_ = false;
  return true;
}

bool Disk::is_urgent() const {
  return stopping_ || hurry_ || more_ || !doubts_.empty() || overflowed_;
}

void Disk::write(std::vector<Record> records) {
  const bool any = !records.empty();
  std::vector<std::size_t> slots;
  std::vector<std::size_t> purged;
  std::uint64_t bytes = 0;  // of records that are gathered and not written yet
  for (Record& record : records) {
    slots.push_back(slot_of(record.header.index_key()));
    if (record.header.kind == Kind::purge) purged.push_back(slots.back());
    bytes += record.footprint();
    begin_step();
    write_one(std::move(record));
    if (!log_.has_gathered()) take_off_queue(std::exchange(bytes, 0));
  }
  flush(any);
  take_off_queue(bytes);
  if (!owed_.empty() && working()) {  // for one record alone: the disk is well
    pay_owed();
    flush(any);
  }
  for (const std::size_t slot : purged) purging_[slot].fetch_sub(1);
  for (const std::size_t slot : slots) in_flight_[slot].fetch_sub(1, std::memory_order_release);
}

void Disk::take_off_queue(std::uint64_t bytes) {
  std::vector<std::function<void()>> told;
  {
    const std::lock_guard lock(mutex_);
    queued_bytes_ -= bytes;
    pace_ = log_.pace();
    const auto over =
        std::partition(wait_for_room_.begin(), wait_for_room_.end(),
                       [&](const Waiting& waiting) { return queued_bytes_ > waiting.more_than; });
    for (auto waiting = over; waiting != wait_for_room_.end(); ++waiting) {
      told.push_back(std::move(waiting->taken));
    }
    wait_for_room_.erase(over, wait_for_room_.end());
  }
  for (const auto& taken : told) taken();
}

void Disk::flush(bool any) {
  if (!working()) return;
  const auto flushed = log_.flush();
  if (!flushed) {
    rest(flushed.error());
  } else if (any) {
    next_rest_ = options_.first_rest;
  }
}

void Disk::write_one(Record record) {
  if (is_purge(record.header.kind)) {
    // Kept until it is known to be written.
    Record owed{.header = record.header, .url = record.url, .head = {}};
    auto asked = std::move(record.done);
    record.done = [this, asked = std::move(asked), owed = std::move(owed)](Result<Position> at) {
      if (!at) owe(owed);
      if (at) purged_elsewhere_ = went_;
      if (asked) asked(at);
    };
  }
  if (!working()) {
    counters_.failed_writes += 1;
    if (record.done) record.done(Error::resting);
    return;
  }
  const auto appended = log_.append(std::move(record));
  if (!appended) rest(appended.error());
}

void Disk::begin_step() {
  step_begun_ = Clock::now().time_since_epoch().count();
}

void Disk::purge_everything() {
  write_one({.header = {.kind = Kind::purge_prefix}, .url = {}, .head = {}});
  flush(true);
}

void Disk::owe(Record record) {
  // What was queued before it may have been written since.
  if (record.header.kind == Kind::purge) index_.erase(record.header.key);
  if (owed_.size() >= kMostOwed) return owe_everything();
  owed_.push_back(std::move(record));
}

void Disk::owe_everything() {
  owed_.clear();
  rules_.clear();
  (void)rules_.add("");
  owed_.push_back({.header = {.kind = Kind::purge_prefix}, .url = {}, .head = {}});
}

void Disk::pay_owed() {
  for (Record& record : std::exchange(owed_, {})) {
    if (working()) {
      write_one(std::move(record));
    } else {
      owe(std::move(record));  // and not failed anew
    }
  }
}

// Whether there is more to do right away.
bool Disk::look_after() {
  if (!working()) return false;
  if (Clock::now() - looked_after_ >= kLookAfter) {
    looked_after_ = Clock::now();
    const auto there = log_.check_directory();
    if (!there) {
      rest(there.error());
      return false;
    }
  }
  const auto settled = log_.settle_claims();
  if (!settled) {
    rest(settled.error());
    return false;
  }
  const auto searched = log_.search_purged();
  if (!searched) rest(searched.error());
  return searched && (*settled || *searched);
}

// Which entries a rule covers is known once they were searched for, which has to wait while the
// disk rests.
void Disk::judge_claims() {
  if (rules_.count() == 0) {
    searching_since_.reset();
    index_.suspend_claims(Unclaimed::searching, false);
    return;
  }
  if (!searching_since_) searching_since_ = Clock::now();
  const bool soon = working() && Clock::now() - *searching_since_ < kClaimsMeanwhile;
  if (!soon) index_.suspend_claims(Unclaimed::searching, true);
}

void Disk::rest(Error reason) {
  log_may_have_more_ = true;
  if (reason == Error::no_directory) {
    ready_ = false;
    went_ = true;
    log_.abandon();
  }
  const std::lock_guard lock(mutex_);
  state_ = {.working = false, .reason = reason};
  resume_at_ = Clock::now() + next_rest_;
  next_rest_ = std::min(next_rest_ * 2, options_.longest_rest);
}

// While the directory was away, another one may have been told of purges in its place.
void Disk::recover() {
  Result<void> ready = log_.check_directory();
  if (!ready) {
    ready_ = false;
    const auto loaded = log_.open(options_.path);
    ready = loaded ? Result<void>() : loaded.error();
    if (loaded && loaded->unreadable == 0) log_may_have_more_ = went_;
    if (loaded && loaded->entries > 0 && purged_elsewhere_) owe_everything();
  }
  if (ready) ready = log_.probe();
  if (!ready) {
    rest(ready.error());
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    state_.working = true;
  }
  pay_owed();
  const auto paid = log_.flush();
  if (!paid) rest(paid.error());
  ready_ = working();
}

}  // namespace proxy::cache::disk
