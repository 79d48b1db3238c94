#include "proxy/cache/disk/segment_files.hpp"

#include <algorithm>
#include <utility>

namespace proxy::cache::disk {

namespace {

Result<std::shared_ptr<const Segment>> begun(std::uint32_t number, File file, std::uint16_t purges,
                                             const ClockMark& clock) {
  const auto written = file.write(encode_segment_header(number, purges, clock), 0);
  if (!written) return written.error();
  const SegmentTimes times{.earlier_until = 0, .ahead = clock.ahead};
  return std::make_shared<const Segment>(number, std::move(file), times);
}

}  // namespace

void SegmentFiles::open(Directory directory, const std::vector<Directory::Item>& segments) {
  directory_ = std::move(directory);
  for (const auto& item : segments) account(item.segment, space_of(item.bytes));
}

// last_number_ stays: if the directory is opened again, no number may be used twice.
void SegmentFiles::close() {
  directory_.reset();
  spaces_.clear();
  used_ = most_used_ = 0;
}

Result<void> SegmentFiles::check(const Segment* newest) const {
  const bool there = directory_ && directory_->still_there();
  if (there && (!newest || directory_->still_there(newest->number, newest->file))) return {};
  return Error::no_directory;
}

Result<std::shared_ptr<const Segment>> SegmentFiles::create(std::uint32_t segment_bytes,
                                                            std::uint16_t purges,
                                                            const ClockMark& clock) {
  auto made = directory_->create_behind(last_number_);
  if (!made) return made.error();
  const std::uint32_t number = last_number_ = made->segment;
  const auto reserved = made->file.reserve(segment_bytes);
  Result<std::shared_ptr<const Segment>> segment =
      reserved ? begun(number, std::move(made->file), purges, clock) : reserved.error();
  // A file that could neither be begun nor removed takes space all the same.
  if (segment || !directory_->remove(number)) account(number, space_of(segment_bytes));
  return segment;
}

Result<std::shared_ptr<const Segment>> SegmentFiles::mark(std::uint32_t number,
                                                          std::uint16_t purges,
                                                          const ClockMark& clock) {
  auto file = directory_->open_segment(number);
  if (!file) return file.error();
  return begun(number, std::move(*file), purges, clock);
}

Result<void> SegmentFiles::remove(std::uint32_t number) {
  const auto removed = directory_->remove(number);
  // A file that somebody else removed takes no space.
  if (!removed && removed.error() != Error::no_directory) return removed;
  account(number, 0);
  spaces_.erase(number);
  return {};
}

void SegmentFiles::skip(std::uint32_t number) {
  last_number_ = std::max(last_number_, number);
}

void SegmentFiles::account(std::uint32_t number, std::uint64_t bytes) {
  const auto [space, is_new] = spaces_.try_emplace(number, 0);
  used_ = used_ - space->second + bytes;
  most_used_ = std::max(most_used_, used_);
  space->second = bytes;
}

bool SegmentFiles::lacks_space(std::uint32_t segment_bytes) const {
  return directory_->free_bytes() < space_of(segment_bytes);
}

// One segment less than `bytes` is as much as the files ever take for long.
bool SegmentFiles::is_squeezed(std::uint64_t bytes, std::uint32_t segment_bytes) const {
  const std::uint64_t free = directory_->free_bytes();
  return free < 2 * space_of(segment_bytes) && used_ + free + segment_bytes < bytes;
}

bool SegmentFiles::may_yield(const Segment* newest) const {
  if (spaces_.size() < 2 || used_ <= most_used_ / 2) return false;
  return !newest || newest->number != oldest();
}

}  // namespace proxy::cache::disk
