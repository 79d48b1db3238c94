#include "proxy/cache/disk/record_times.hpp"

#include <algorithm>
#include <limits>

namespace proxy::cache::disk {

namespace {

using milliseconds = std::chrono::milliseconds;

constexpr milliseconds kStep{1000};
// The oldest response time: 0 stands for none.
constexpr std::int64_t kOldest = 1;

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

}  // namespace proxy::cache::disk
