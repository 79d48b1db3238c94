#include "proxy/cache/disk/segments.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>

namespace proxy::cache::disk {

namespace {

using milliseconds = std::chrono::milliseconds;

constexpr milliseconds kStep{1000};
// The oldest response time: 0 stands for none.
constexpr std::int64_t kOldest = 1;

// cachestat(2) on x86-64 and ARM64; older C libraries do not declare it. Elsewhere the call fails,
// and mincore(2) is asked.
constexpr long kCacheStat = 451;
struct CacheStatRange {
  std::uint64_t offset;
  std::uint64_t bytes;
};
struct CacheStat {
  std::uint64_t pages;  // that the page cache has
  std::uint64_t others[4];
};

}  // namespace

milliseconds RecordTimes::apply(milliseconds ahead) {
  // A clock that was set back makes no record younger, so only the part above 0 counts.
  const milliseconds before(now_ahead_.exchange(ahead.count()));
  return std::max(ahead, milliseconds(0)) - std::max(before, milliseconds(0));
}

ClockMark RecordTimes::mark() const {
  return {run_, milliseconds(now_ahead_.load(std::memory_order_relaxed))};
}

bool RecordTimes::has_stepped_since(milliseconds marked) const {
  const auto since = mark().ahead - marked;
  return since >= kStep || since <= -kStep;
}

milliseconds RecordTimes::ahead(const SegmentTimes& of, std::uint32_t offset) const {
  return of.earlier(offset) ? of.ahead + std::max(mark().ahead, milliseconds(0)) : of.ahead;
}

void RecordTimes::to_clock(RecordHeader& record, const SegmentTimes& of) const {
  shift_times(record, -ahead(of, record.at.offset));
  const bool from_future =
      of.earlier(record.at.offset) && record.response_time > (started_ + kStep).count();
  if (from_future) record.response_time = kOldest;
}

// The first mark of a run that comes is its newest, as segments come from the newest on: it has
// all steps of that run.
SegmentTimes TimesOfRuns::next(const ClockMark& mark) {
  if (mark.run == run_) return {.earlier_until = 0, .ahead = mark.ahead};
  if (!newest_ || newest_->run != mark.run) {
    if (newest_) back_ = std::max(back_ + std::min(newest_->ahead, {}), -ClockMark::kMost);
    newest_ = mark;
  }
  return {.ahead = mark.ahead - newest_->ahead - back_};
}

void shift_times(RecordHeader& record, milliseconds by) {
  if (by.count() == 0) return;
  if (record.response_time != 0) {
    record.response_time = std::max(record.response_time + by.count(), kOldest);
  }
  record.claimable_until = shifted_claim(record.claimable_until, by);
}

// 0 means no claim, so a claim that ended long ago is moved to 1.
std::uint32_t shifted_claim(std::uint32_t until, milliseconds by) {
  if (until == 0) return 0;
  const auto shifted = until + std::chrono::floor<std::chrono::seconds>(by).count();
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(shifted, 1, std::numeric_limits<std::uint32_t>::max()));
}

Residency::~Residency() {
  if (mapping_) ::munmap(mapping_, kMaxSegmentBytes);
}

bool Residency::has(std::uint64_t offset, std::uint64_t bytes) const {
  if (bytes == 0) return true;  // the system would count up to the end of the file
  if (offset + bytes > kMaxSegmentBytes) return false;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  CacheStatRange range{offset, bytes};
  CacheStat found{};
  if (::syscall(kCacheStat, file_.descriptor(), &range, &found, 0) != 0) {
    return has_by_mapping(offset, bytes);
  }
  return found.pages == (offset + bytes - 1) / page - offset / page + 1;
}

bool Residency::has_by_mapping(std::uint64_t offset, std::uint64_t bytes) const {
  std::call_once(mapped_, [this] {
    void* const made =
        ::mmap(nullptr, kMaxSegmentBytes, PROT_READ, MAP_SHARED, file_.descriptor(), 0);
    if (made != MAP_FAILED) mapping_ = made;
  });
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto end = offset + bytes;
  if (!mapping_ || end > kMaxSegmentBytes) return false;
  // One byte for each page: a large body is asked about in parts.
  std::array<unsigned char, 256> pages;
  for (auto at = offset / page * page; at < end;) {
    const auto count = std::min<std::uint64_t>(pages.size(), (end - at + page - 1) / page);
    auto* const from = static_cast<std::uint8_t*>(mapping_) + at;
    if (::mincore(from, count * page, pages.data()) != 0) return false;
    const auto is_there = [](unsigned char state) { return (state & 1) != 0; };
    if (!std::all_of(pages.data(), pages.data() + count, is_there)) return false;
    at += count * page;
  }
  return true;
}

bool SegmentUsers::add(const std::shared_ptr<SegmentUser>& user) {
  const threads::MutexLock lock(mutex_);
  if (closed_) return false;
  // The limit doubles, so a call rarely searches for users that are gone.
  if (users_.size() >= most_) {
    std::erase_if(users_, [](const auto& one) { return one.expired(); });
    most_ = std::max(kFewest, 2 * users_.size());
  }
  users_.push_back(user);
  return true;
}

void SegmentUsers::save_all() {
  std::vector<std::weak_ptr<SegmentUser>> users;
  {
    const threads::MutexLock lock(mutex_);
    // A user that comes later would read from an empty file.
    closed_ = true;
    users = std::exchange(users_, {});
  }
  // Without the lock, because save() waits for the disk.
  for (const auto& one : users) {
    if (const auto user = one.lock()) user->save();
  }
}

std::shared_ptr<const Segment> Segments::find(std::uint32_t number) const {
  const threads::ReadLock lock(mutex_);
  const auto found = segments_.find(number);
  return found == segments_.end() ? nullptr : found->second;
}

void Segments::add(std::shared_ptr<const Segment> segment) {
  const threads::WriteLock lock(mutex_);
  const auto number = segment->number;
  segments_[number] = std::move(segment);
}

void Segments::remove(std::uint32_t number) {
  const threads::WriteLock lock(mutex_);
  segments_.erase(number);
}

void Segments::clear() {
  const threads::WriteLock lock(mutex_);
  segments_.clear();
}

std::shared_ptr<const Segment> Segments::after(std::uint32_t number) const {
  const threads::ReadLock lock(mutex_);
  const auto found = segments_.upper_bound(number);
  return found == segments_.end() ? nullptr : found->second;
}

// By number instead of under the lock, because the users read from the disk.
void Segments::save_all_users() const {
  for (auto segment = oldest(); segment; segment = after(segment->number)) {
    segment->users.save_all();
  }
}

std::size_t Segments::count() const {
  const threads::ReadLock lock(mutex_);
  return segments_.size();
}

}  // namespace proxy::cache::disk
