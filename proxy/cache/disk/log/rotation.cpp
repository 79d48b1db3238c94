#include "proxy/cache/disk/log/rotation.hpp"

#include <algorithm>
#include <chrono>

namespace proxy::cache::disk {
namespace {

// All appends wait while entries of a reclaimed segment are copied. So no more bytes are copied
// than the disk writes in kLongestCopy, but kLeastCopied in any case: one block of a large object.
constexpr std::chrono::milliseconds kLongestCopy{300};
constexpr std::uint64_t kLeastCopied = std::uint64_t{1'088} << 10;

}  // namespace

Result<void> Rotation::begin_segment(std::uint64_t awaited_bytes) {
  if (!files_.is_open()) return Error::resting;
  const auto flushed = appender_.flush();
  if (!flushed) return flushed;
  if (appender_.segment()) {
    const auto sealed = seal();
    if (!sealed) return sealed;
  }
  CopyAllowance none;
  const auto room = reclaimer_.make_room(Reclaimer::kAnyNumber, none);
  if (!room) return room;
  const auto created = create_squeezed();
  if (!created) return created;
  appender_.reserve(awaited_bytes);
  const std::size_t share = limits_.entries / kWantedSegments;
  const std::size_t entries =
      reclaimer_.is_crowded() ? limits_.entries - share : Reclaimer::kAnyNumber;
  const auto soon = std::max(appender_.pace().bytes_in(kLongestCopy), kLeastCopied);
  CopyAllowance allowance{std::min<std::uint64_t>(limits_.segment_bytes / 2, soon), share / 2};
  auto ready = reclaimer_.make_room(entries, allowance);
  while (ready && may_yield() && lacks_space()) ready = yield_oldest(allowance);
  appender_.reserve(0);
  return ready;
}

Result<void> Rotation::follow_clock() {
  if (!catalog_.segments.times.has_stepped_since(marked_)) return {};
  const auto flushed = appender_.flush();
  if (!flushed) return flushed;
  if (!appender_.is_unused()) return begin_segment(0);
  const auto clock = catalog_.segments.times.mark();
  return append_to(files_.mark(appender_.segment()->number, *appender_.purges(), clock), clock);
}

Result<void> Rotation::seal() {
  const auto number = appender_.segment()->number;
  const auto sealed = appender_.seal();
  if (!sealed) return sealed.error();
  files_.account(number, space_of(*sealed));
  return {};
}

Result<void> Rotation::probe() {
  if (!appender_.segment()) return begin_segment(0);
  const auto written = appender_.probe();
  const bool squeezed = !written && written.error() == Error::no_space && may_yield();
  return squeezed ? begin_segment(0) : written;
}

Result<void> Rotation::yield_oldest(CopyAllowance& allowance) {
  const auto reclaimed = reclaimer_.reclaim(files_.oldest(), allowance);
  if (reclaimed) catalog_.counters.squeezed_out += 1;
  return reclaimed;
}

// If other programs fill the file system, our oldest segments are removed, too. The free space that
// the file system tells ignores quotas: only an attempt to write shows that a quota is used up.
Result<void> Rotation::create_squeezed() {
  for (CopyAllowance none;;) {
    if (!may_yield()) return create();
    if (!lacks_space()) {
      const auto created = create();
      if (created || created.error() != Error::no_space) return created;
    }
    const auto yielded = yield_oldest(none);
    if (!yielded) return yielded;
  }
}

Result<void> Rotation::create() {
  const auto clock = catalog_.segments.times.mark();
  return append_to(files_.create(limits_.segment_bytes, *appender_.purges(), clock), clock);
}

Result<void> Rotation::append_to(const Result<std::shared_ptr<const Segment>>& segment,
                                 const ClockMark& clock) {
  if (!segment) return segment.error();
  marked_ = clock.ahead;
  catalog_.counters.overhead_bytes += kSegmentHeaderBytes;
  catalog_.segments.add(*segment);
  appender_.begin(*segment, {}, kSegmentHeaderBytes);
  return {};
}

}  // namespace proxy::cache::disk
