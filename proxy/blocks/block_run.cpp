#include "proxy/blocks/block_run.hpp"

#include <algorithm>

#include "proxy/blocks/block_runs.hpp"

namespace proxy {

BlockRun::BlockRun(cache::Ref<const cache::Entry> of, RunPlan plan, net::Executor writer,
                   threads::Mutex& guard)
    : object(std::move(of)),
      executor_(writer),
      writer_(writer),
      guard_(guard),
      plan_(std::move(plan)),
      next_(plan_.blocks.first),
      readers_{.asked_for = plan_.blocks.first} {}

bool BlockRun::supplies(std::uint32_t block) const {
  return block >= next_ && block <= plan_.blocks.last && block <= last_near();
}

std::uint32_t BlockRun::last_near() const {
  const auto last = plan_.blocks.last;
  return plan_.through ? last : next_ + std::min(last - next_, BlockRuns::kNear - 1);
}

// Whether the run may cede the block to an early run: the run is long, it reaches the block only
// after many others, and no reader waits for this block or a later one.
bool BlockRun::may_cede(std::uint32_t block) const {
  const bool long_one = plan_.blocks.last - plan_.blocks.first >= BlockRuns::kMost;
  const bool far = block > next_ + 1 && block - next_ >= BlockRuns::kLead;
  return long_one && far && !plan_.through && fills_.lower_bound(block) == fills_.end();
}

// A new fill gets its head at once, so that readers get the bytes as they arrive.
const std::shared_ptr<Fill>& BlockRun::fill_of(std::uint32_t block) {
  auto& fill = fills_[block];
  if (fill) return fill;
  fill = std::make_shared<Fill>(object->url(), executor_);
  FillHead head;
  head.entry = object;
  fill->publish(std::move(head));
  return fill;
}

BlockRun::Asked BlockRun::ask(std::uint32_t block) {
  const threads::MutexLock lock(guard_);
  if (block > plan_.blocks.last || ended_) return Asked::not_supplied;
  if (block > readers_.asked_for) {
    readers_.asked_for = block;
    writer_.notify();
  }
  return Asked::yes;
}

void BlockRun::on_unwanted(std::function<void()> unwanted) {
  const threads::MutexLock lock(guard_);
  readers_.on_unwanted = std::move(unwanted);
}

void BlockRun::replan(cache::BlockRange blocks, bool through) {
  const threads::MutexLock lock(guard_);
  plan_.blocks = blocks;
  plan_.through = through;
  next_ = blocks.first;
}

void BlockRun::take_from(peers::PeerRef peer) {
  const threads::MutexLock lock(guard_);
  neighbours_.peer = std::move(peer);
}

peers::PeerRef BlockRun::peer() const {
  const threads::MutexLock lock(guard_);
  return neighbours_.peer;
}

void BlockRun::tell(Inquiries inquiries) {
  const threads::MutexLock lock(guard_);
  neighbours_.inquiries = std::move(inquiries);
}

Inquiries BlockRun::inquiries() const {
  const threads::MutexLock lock(guard_);
  return neighbours_.inquiries;
}

void BlockRun::begin_again() {
  const threads::MutexLock lock(guard_);
  neighbours_.peer = nullptr;
  plan_.blocks.first = next_;
  const auto under_way = fills_.find(next_);
  if (under_way == fills_.end()) return;
  under_way->second->fail({Failure::Where::us, Failure::What::abandoned, {}});
  fills_.erase(under_way);
}

BlockRun::Rest BlockRun::rest() {
  const threads::MutexLock lock(guard_);
  auto& plan = plan_;
  plan.blocks.first = next_;
  const auto under_way = fills_.find(next_);
  const auto reached = under_way == fills_.end() ? 0 : under_way->second->received();
  return {plan.blocks, reached, plan.through};
}

cache::BlockRange BlockRun::blocks() const {
  const threads::MutexLock lock(guard_);
  return plan_.blocks;
}

bool BlockRun::wanted() const {
  std::function<bool()> also_wanted;
  {
    const threads::MutexLock lock(guard_);
    if (readers_.count > 0 || !plan_.also_wanted) return readers_.count > 0;
    also_wanted = plan_.also_wanted;
  }
  if (also_wanted()) return true;
  const threads::MutexLock lock(guard_);
  return readers_.count > 0;
}

void BlockRun::look_whether_wanted() {
  std::function<void()> unwanted;
  {
    const threads::MutexLock lock(guard_);
    writer_.notify();
    unwanted = readers_.on_unwanted;
  }
  if (unwanted && !wanted()) net::asio::post(executor_, std::move(unwanted));
}

}  // namespace proxy
