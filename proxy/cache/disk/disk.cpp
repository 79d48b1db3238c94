#include "proxy/cache/disk/disk.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace proxy::cache::disk {
namespace {

// Of what may wait as blocks: what may if it is no block, and where it is a purge, or what is
// written already depends on it: the blocks of an object, or a body whose newer head it is.
constexpr std::uint64_t kShareOfSmall = 4;
constexpr std::uint64_t kShareOfLast = 8;

// Blocks come at the pace of the disk, what is small in bursts.
std::uint64_t share_of(const RecordHeader& header) {
  if (header.kind == Kind::block) return 1;
  const bool last = header.claims_blocks() || header.kind == Kind::head;
  return last ? kShareOfLast : kShareOfSmall;
}

// What may wait as blocks is written in that time, or is some of this: what is small has room
// beside one block then.
constexpr std::chrono::milliseconds kSoon{125};
constexpr std::uint64_t kLeastSoon = std::uint64_t{320} << 10;

// A step of the writer that lasts longer is one of a disk that is slow now, whatever it was before.
constexpr std::chrono::milliseconds kSlowStep{500};

constexpr std::uint64_t kMuch = std::uint64_t{1} << 20;  // to be written at once

constexpr std::size_t kMostDoubts = 65'536;  // that wait for the writer

// A machine without a clock of its own may believe to be in 1970 until somebody tells it.
std::uint32_t past_second() {
  constexpr std::chrono::sys_days kLongPast{std::chrono::year{2025} / 1 / 1};
  const auto past =
      std::max<std::chrono::system_clock::time_point>(std::chrono::system_clock::now(), kLongPast);
  return static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::seconds>(past.time_since_epoch()).count());
}

std::uint64_t random_number() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

std::function<void(Result<Position>)> told(Done done) {
  return [done = std::move(done)](Result<Position> at) {
    if (done) done(at ? Result<void>() : at.error());
  };
}

LogLimits fitted(LogLimits limits) {
  const auto bytes = segment_bytes_for(limits);
  if (bytes) limits.segment_bytes = *bytes;
  return limits;
}

}  // namespace

Disk::Disk(Options options)
    : options_(std::move(options)),
      index_(past_second()),
      rules_(options_.purge_reading),
      versions_(random_number()),
      log_(in_steps(fitted(options_.log)),
           Shared{index_, segments_, rules_, counters_, log_may_have_more_}),
      next_rest_(options_.first_rest) {}

Result<Loaded> Disk::start() {
  const auto segment_bytes = segment_bytes_for(options_.log);
  if (!segment_bytes) return segment_bytes.error();
  stopping_ = ended_ = false;
  next_rest_ = options_.first_rest;
  started_.reset();
  begin_step();
  writer_ = std::thread([this] { run(); });
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, options_.longest_start, [this] { return started_.has_value(); })) {
    return Error::hangs;
  }
  const auto started = *started_;
  lock.unlock();
  if (!started && started.error() == Error::in_use) stop();
  return started;
}

std::optional<Place> Disk::find(const Key& key, std::string_view url) {
  if (!ready_.load(std::memory_order_acquire)) return std::nullopt;
  const auto place = index_.use(key);
  if (!place || purging(key)) return std::nullopt;
  if (rules_.purged(url, place->at)) {
    index_.set_claim(key, place->at, 0);  // the search for it may take a while
    return std::nullopt;
  }
  return place;
}

bool Disk::holds(const Key& key, std::string_view url, Position at) const {
  if (purging(key) || !ready_.load(std::memory_order_acquire)) return false;
  const auto place = index_.find(key);
  return place && place->at == at && !rules_.purged(url, at);
}

Result<Stored> Disk::open(const Key& key, const Place& place, Wait wait) {
  auto stored = Stored::open(segments_, key, place, wait);
  if (!stored) drop(key, place, stored.error());
  return stored;
}

Result<void> Disk::read_body(const Stored& stored, std::span<const std::span<std::uint8_t>> into,
                             Wait wait) {
  const auto read = stored.read_body(into, wait);
  const RecordHeader& header = stored.header();
  if (!read) drop(header.index_key(), {.at = header.at}, read.error());
  return read;
}

bool Disk::drop(const Key& key, const Place& place, Error reason) {
  if (reason == Error::would_block) return false;
  // What cannot be read is tried no more, or each who asks for it would wait for a bad sector; the
  // next start must not find it either, as who purges it meanwhile finds nothing to purge.
  const bool dropped = index_.erase_at(key, place.at);
  if (dropped && reason == Error::corrupt) counters_.corrupt += 1;
  if (reason != Error::corrupt && reason != Error::gone) counters_.failed_reads += 1;
  if (dropped && reason != Error::gone) purge(key, {});
  return dropped;
}

Error Disk::discard(const Key& key, const Place& place) {
  drop(key, place, Error::corrupt);
  return Error::corrupt;
}

Result<void> Disk::append(Record record) {
  const std::lock_guard lock(mutex_);
  if (!state_.working) {
    counters_.refused_resting += 1;
    return Error::resting;
  }
  if (!has_room_for(record)) {
    counters_.refused_busy += 1;
    return Error::busy;
  }
  queue(std::move(record));
  return {};
}

// The caller holds the lock.
bool Disk::has_room_for(const Record& record) const {
  if (queued_bytes_ == 0) return true;
  const auto share = share_of(record.header);
  return queued_bytes_ <= share * bytes_soon() &&
         queued_bytes_ + record.footprint() <= share * options_.queue_bytes;
}

// The same. What may wait as blocks.
std::uint64_t Disk::bytes_soon() const {
  return in_step() > kSlowStep ? kLeastSoon : std::max(pace_.bytes_in(kSoon), kLeastSoon);
}

Result<void> Disk::replace(Record record) {
  const Key key = record.header.key;
  const bool held = may_hold(key);
  index_.erase(key);
  if (held) purge_unless_written(record);
  const auto taken = append(std::move(record));
  if (!taken && held) purge(key, {});
  return taken;
}

Result<void> Disk::freshen(Record record) {
  const Key key = record.header.key;
  purge_unless_written(record);
  const auto taken = append(std::move(record));
  if (!taken) purge(key, {});
  return taken;
}

// Or the next start would find what was to be replaced.
void Disk::purge_unless_written(Record& record) {
  const Key key = record.header.key;
  record.done = [this, key, told = std::move(record.done)](Result<Position> at) {
    if (!at && at.error() != Error::gone) {
      owe({.header = {.kind = Kind::purge, .key = key}, .url = {}, .head = {}});
    }
    if (told) told(at);
  };
}

// What is written leaves the one place after it has come to the other. After a failure the log may
// know of more than the index.
bool Disk::may_hold(const Key& key) const {
  if (log_may_have_more_.load(std::memory_order_acquire)) return true;
  if (in_flight_[slot_of(key)].load(std::memory_order_acquire) > 0) return true;
  return !ready_.load(std::memory_order_acquire) || index_.find(key);
}

std::uint64_t Disk::most_bytes() const {
  const auto segment = log_.limits().segment_bytes;
  return segment - kSegmentHeaderBytes - kRecordHeaderBytes - kAlignment - footer_bytes(2);
}

// The caller holds the lock.
void Disk::queue(Record record) {
  in_flight_[slot_of(record.header.index_key())].fetch_add(1, std::memory_order_relaxed);
  queued_bytes_ += record.footprint();
  hurry_ = hurry_ || is_purge(record.header.kind) || queued_bytes_ >= kMuch;
  queue_.push_back(std::move(record));
  if (queue_.size() == 1 || hurry_) changed_.notify_all();
}

void Disk::purge(const Key& key, Done done) {
  purging_[slot_of(key)].fetch_add(1);
  index_.erase(key);
  Record record{.header = {.kind = Kind::purge, .key = key}, .url = {}, .head = {}};
  record.done = told(std::move(done));
  queue_purge(std::move(record));
}

// Everything is purged where there is no room: the writer writes that as one record.
void Disk::queue_purge(Record record) {
  {
    const std::lock_guard lock(mutex_);
    if (queued_bytes_ + record.footprint() <= kShareOfLast * options_.queue_bytes) {
      return queue(std::move(record));
    }
    if (!std::exchange(overflowed_, true) && !rules_.add("")) {
      rules_.clear();
      (void)rules_.add("");
    }
  }
  if (record.header.kind == Kind::purge_prefix) rules_.withdraw(record.url);
  if (record.header.kind == Kind::purge) purging_[slot_of(record.header.key)].fetch_sub(1);
  record.done(Error::busy);
}

Result<void> Disk::purge_prefix(std::string_view prefix, Done done) {
  if (!rules_.add(prefix)) return Error::busy;
  Record record{.header = {.kind = Kind::purge_prefix}, .url = std::string(prefix), .head = {}};
  record.done = told(std::move(done));
  queue_purge(std::move(record));
  return {};
}

void Disk::lose_block(const Key& object, std::uint64_t version) {
  const auto place = index_.find(object);
  if (!place || place->claimable_until == 0) return;
  if (place->kind != Kind::object && place->kind != Kind::selector) return;
  index_.set_claim(object, place->at, 0);
  review_claim(object, version);
}

void Disk::review_claim(const Key& object, std::uint64_t version) {
  const std::lock_guard lock(mutex_);
  // Where it is any, few say so.
  if (doubts_.size() >= kMostDoubts && object != kAnyObject)
    return;  // the writer hangs; the next who asks says so again
  doubts_.emplace_back(object, version);
  changed_.notify_all();
}

std::uint64_t Disk::new_version() {
  return versions_.fetch_add(1, std::memory_order_relaxed);
}

State Disk::state() const {
  const std::lock_guard lock(mutex_);
  const bool hanging = (state_.working || !started_) && hangs();
  return hanging ? State{.working = false, .reason = Error::hangs} : state_;
}

// Of a segment that is reclaimed each record may be read: a slow disk does not hang.
LogLimits Disk::in_steps(LogLimits limits) {
  limits.keep = [this, keep = std::move(limits.keep)](const Key& key, const Place& place) {
    begin_step();
    return keep(key, place);
  };
  return limits;
}

// The caller holds the lock.
bool Disk::hangs() const {
  return in_step() >= (started_ ? kLongestStep : options_.longest_start);
}

Disk::Clock::duration Disk::in_step() const {
  const Clock::duration begun(step_begun_.load());
  if (begun.count() == 0) return {};
  return Clock::now().time_since_epoch() - begun;
}

bool Disk::when_taken(std::uint64_t more_than, std::function<void()> taken) {
  const std::lock_guard lock(mutex_);
  more_than = std::min(more_than, bytes_soon() / 2);  // they come all at once
  if (queued_bytes_ <= more_than || !state_.working || hangs() || ended_) return false;
  wait_for_room_.push_back({more_than, std::move(taken)});
  return true;
}

std::uint64_t Disk::queued_bytes() const {
  const std::lock_guard lock(mutex_);
  return queued_bytes_;
}

bool Disk::settle(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit,
                           [this] { return queue_.empty() && doubts_.empty() && idle_; });
}

}  // namespace proxy::cache::disk
