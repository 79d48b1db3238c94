#include "proxy/cache/disk/write_queue.hpp"

#include <algorithm>

namespace proxy::cache::disk {

namespace {

// The bounds of other records are multiples of the bounds of blocks. Blocks arrive at the pace of
// the disk, small records in bursts. The last ones to be refused are records on which written
// records depend: the entry of an object whose blocks are written, and a newer head whose body is.
// Purges have the same bound in bytes.
constexpr std::uint64_t kShareOfSmall = 4;
constexpr std::uint64_t kShareOfLast = 8;

std::uint64_t share_of(const RecordHeader& header) {
  if (header.kind == RecordKind::block) return 1;
  const bool last = header.claims_blocks() || header.kind == RecordKind::head;
  return last ? kShareOfLast : kShareOfSmall;
}

// The bound in time for blocks. It is never less than kLeastSoon bytes, so that small records have
// room beside one block.
constexpr std::chrono::milliseconds kSoon{125};
constexpr std::uint64_t kLeastSoon = std::uint64_t{320} << 10;

// If a step of the writer takes longer, the disk is slow now, whatever its pace was before.
constexpr std::chrono::milliseconds kSlowStep{500};

constexpr std::uint64_t kMuch = std::uint64_t{1} << 20;  // so many bytes are written at once

constexpr std::size_t kMostDoubts = 65'536;

}  // namespace

Result<void> WriteQueue::append(NewRecord record) {
  const threads::MutexLock lock(mutex_);
  if (phase_ != Phase::open || !watch_.working()) {
    catalog_.counters.refused_resting += 1;
    return Error::resting;
  }
  if (!has_room_for(record)) {
    catalog_.counters.refused_busy += 1;
    return Error::busy;
  }
  push(std::move(record));
  return {};
}

bool WriteQueue::has_room_for(const NewRecord& record) const {
  // A record that is larger than the bound must be written as well, alone.
  if (bytes_ == 0) return true;
  const auto share = share_of(record.header);
  return bytes_ <= share * bytes_soon() &&
         bytes_ + record.footprint() <= share * options_.queue_bytes;
}

std::uint64_t WriteQueue::bytes_soon() const {
  return watch_.in_step() > kSlowStep ? kLeastSoon : std::max(pace_.bytes_in(kSoon), kLeastSoon);
}

void WriteQueue::push(NewRecord record) {
  catalog_.unwritten.add(record.header.index_key());
  bytes_ += record.footprint();
  pending_.urgent = pending_.urgent || is_purge(record.header.kind) || bytes_ >= kMuch;
  pending_.records.push_back(std::move(record));
  if (pending_.records.size() == 1 || pending_.urgent) changed_.notify_all();
}

void WriteQueue::purge(NewRecord record) {
  if (!add_purge(record)) {
    if (record.header.kind == RecordKind::purge_prefix) catalog_.rules.withdraw(record.url);
    if (record.header.kind == RecordKind::purge) {
      catalog_.purging.subtract(KeyCounts::slot_of(record.header.key));
    }
  }
  if (record.done) record.done(Error::busy);
}

// If the writer has ended, the record waits for the next start, and its `done` stays here.
bool WriteQueue::add_purge(NewRecord& record) {
  const threads::MutexLock lock(mutex_);
  if (bytes_ + record.footprint() <= kShareOfLast * options_.queue_bytes) {
    auto untold = phase_ == Phase::ended ? std::exchange(record.done, {}) : nullptr;
    push(std::exchange(record, {}));
    record.done = std::move(untold);
    return true;
  }
  // The rule must exist before the writer sees `overflowed`, because the writer settles the rule.
  const bool is_new = !std::exchange(pending_.overflowed, true);
  if (is_new && catalog_.rules.add("") == PurgeRules::Added::too_many) {
    catalog_.rules.cover_all();
  }
  return false;
}

void WriteQueue::doubt(const Key& object, std::uint64_t version) {
  const threads::MutexLock lock(mutex_);
  // A doubt of every object enters even a full list, because no later doubt repeats it.
  if (pending_.doubts.size() >= kMostDoubts && object != kAnyObject) return;
  pending_.doubts.emplace_back(object, version);
  changed_.notify_all();
}

std::uint64_t WriteQueue::bytes() const {
  const threads::MutexLock lock(mutex_);
  return bytes_;
}

WriteQueue::Notice WriteQueue::when_taken(std::uint64_t more_than, std::function<void()> taken) {
  const threads::MutexLock lock(mutex_);
  // Half, because all waiters continue at the same time.
  more_than = std::min(more_than, bytes_soon() / 2);
  if (bytes_ <= more_than || !watch_.working() || watch_.hangs() || phase_ == Phase::ended) {
    return Notice::none;
  }
  waiters_.push_back({more_than, std::move(taken)});
  return Notice::follows;
}

bool WriteQueue::settle(std::chrono::milliseconds limit) {
  threads::MutexLock lock(mutex_);
  if (!pending_.records.empty()) {
    pending_.urgent = true;
    changed_.notify_all();
  }
  return changed_.wait_for(lock, limit,
                           [this]() REQUIRES(mutex_) { return pending_.empty() && idle_; });
}

void WriteQueue::open() {
  const threads::MutexLock lock(mutex_);
  phase_ = Phase::open;
}

void WriteQueue::stop() {
  const threads::MutexLock lock(mutex_);
  if (phase_ == Phase::open) phase_ = Phase::stopping;
  changed_.notify_all();
}

bool WriteQueue::ended(std::chrono::milliseconds limit) {
  threads::MutexLock lock(mutex_);
  return changed_.wait_for(lock, limit,
                           [this]() REQUIRES(mutex_) { return phase_ == Phase::ended; });
}

bool WriteQueue::is_urgent() const {
  return phase_ != Phase::open || pending_.urgent || !pending_.doubts.empty() ||
         pending_.overflowed;
}

std::optional<WriteQueue::Batch> WriteQueue::take(std::chrono::nanoseconds longest) {
  threads::MutexLock lock(mutex_);
  changed_.wait_for(lock, longest,
                    [this]() REQUIRES(mutex_) { return is_urgent() || !pending_.records.empty(); });
  if (!pending_.records.empty() && longest.count() > 0) {
    changed_.wait_for(lock, options_.gather, [this]() REQUIRES(mutex_) { return is_urgent(); });
  }
  if (phase_ == Phase::last_taken || (phase_ == Phase::stopping && pending_.empty())) {
    return std::nullopt;
  }
  // What comes after this batch waits for the next start.
  if (phase_ == Phase::stopping) phase_ = Phase::last_taken;
  idle_ = false;
  return std::exchange(pending_, {});
}

void WriteQueue::release(std::uint64_t bytes, const WritePace& pace) {
  std::vector<Waiter> told;
  {
    const threads::MutexLock lock(mutex_);
    bytes_ -= bytes;
    pace_ = pace;
    const auto left = bytes_;
    const auto over =
        std::partition(waiters_.begin(), waiters_.end(),
                       [left](const Waiter& waiter) { return left > waiter.more_than; });
    told.assign(std::move_iterator(over), std::move_iterator(waiters_.end()));
    waiters_.erase(over, waiters_.end());
  }
  for (const auto& waiter : told) waiter.taken();
}

void WriteQueue::finish() {
  const threads::MutexLock lock(mutex_);
  idle_ = pending_.empty();
  if (idle_) changed_.notify_all();
}

void WriteQueue::end() {
  std::vector<std::function<void(Result<Position>)>> untold;
  {
    const threads::MutexLock lock(mutex_);
    for (auto& record : pending_.records) untold.push_back(std::exchange(record.done, {}));
    phase_ = Phase::ended;
    changed_.notify_all();
  }
  for (const auto& done : untold) {
    if (done) done(Error::handed_over);
  }
}

}  // namespace proxy::cache::disk
