#include "proxy/fill/run.hpp"

#include <algorithm>

#include "proxy/fill/runs.hpp"

namespace proxy {

Run::Run(std::shared_ptr<const cache::Entry> of, RunPlan plan, net::Executor writer)
    : object(std::move(of)),
      executor_(writer),
      writer_(writer),
      plan_(std::move(plan)),
      next_(plan_.blocks.first),
      readers_{.asked_for = plan_.blocks.first} {}

bool Run::brings(std::uint32_t block) const {
  return block >= next_ && block <= plan_.blocks.last && block <= last_near();
}

std::uint32_t Run::last_near() const {
  const auto last = plan_.blocks.last;
  return plan_.through ? last : next_ + std::min(last - next_, Runs::kNear - 1);
}

// Whether it may end before that block, to which it comes only after many others, and for which
// nobody waits here.
bool Run::may_leave(std::uint32_t block) const {
  const bool long_one = plan_.blocks.last - plan_.blocks.first >= Runs::kMost;
  const bool far = block > next_ + 1 && block - next_ >= Runs::kLead;
  return long_one && far && !plan_.through && fills_.lower_bound(block) == fills_.end();
}

// Its head is there from the start, so that what comes is read as it comes.
const std::shared_ptr<Fill>& Run::fill_of(std::uint32_t block) {
  auto& fill = fills_[block];
  if (fill) return fill;
  fill = std::make_shared<Fill>(object->url, executor_);
  FillHead head;
  head.entry = object;
  fill->publish(std::move(head));
  return fill;
}

}  // namespace proxy
