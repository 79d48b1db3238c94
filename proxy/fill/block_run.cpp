#include "proxy/fill/block_run.hpp"

#include <algorithm>

#include "proxy/fill/block_runs.hpp"

namespace proxy {

BlockRun::BlockRun(std::shared_ptr<const cache::Entry> of, RunPlan plan, net::Executor writer)
    : object(std::move(of)),
      executor_(writer),
      writer_(writer),
      plan_(std::move(plan)),
      next_(plan_.blocks.first),
      asked_for_(plan_.blocks.first) {}

bool BlockRun::brings(std::uint32_t block) const {
  return block >= next_ && block <= plan_.blocks.last && block <= last_near();
}

std::uint32_t BlockRun::last_near() const {
  const auto last = plan_.blocks.last;
  return plan_.through ? last : next_ + std::min(last - next_, BlockRuns::kNear - 1);
}

// Whether it may end before that block, to which it comes only after many others, and for which
// nobody waits here.
bool BlockRun::may_leave(std::uint32_t block) const {
  const bool long_one = plan_.blocks.last - plan_.blocks.first >= BlockRuns::kMost;
  const bool far = block > next_ + 1 && block - next_ >= BlockRuns::kLead;
  return long_one && far && !plan_.through && fills_.lower_bound(block) == fills_.end();
}

bool BlockRun::is_wanted() const {
  return readers_ > 0 || (plan_.also_wanted && plan_.also_wanted());
}

// Its head is there from the start, so that what comes is read as it comes.
const std::shared_ptr<Fill>& BlockRun::fill_of(std::uint32_t block) {
  auto& fill = fills_[block];
  if (fill) return fill;
  fill = std::make_shared<Fill>(object->url, executor_);
  FillHead head;
  head.entry = object;
  fill->publish(std::move(head));
  return fill;
}

void BlockRun::look_whether_wanted() {
  writer_.notify();
  if (unwanted_ && !is_wanted()) net::asio::post(executor_, unwanted_);
}

}  // namespace proxy
