#include "proxy/command/step_queue.hpp"

#include <utility>

namespace proxy::command {

// The layers of several platforms, and of several images, are partly the same.
void StepQueue::add(std::vector<FetchStep> steps) {
  const threads::MutexLock lock(mutex_);
  for (auto& step : steps) {
    if (named_.insert(step.target).second) steps_.push_back(std::move(step));
  }
  told_.all = named_.size();
  changed_.notify_all();
}

// A thread without a step waits for the others: the answer to a manifest names more.
std::optional<FetchStep> StepQueue::next() {
  threads::MutexLock lock(mutex_);
  changed_.wait(lock, [this]() REQUIRES(mutex_) { return has_ended() || !steps_.empty(); });
  if (has_ended()) return std::nullopt;
  auto step = std::move(steps_.front());
  steps_.pop_front();
  ++under_way_;
  return step;
}

void StepQueue::end(const FetchStep& step, const std::string& why) {
  const threads::MutexLock lock(mutex_);
  --under_way_;
  ++told_.done;
  if (!why.empty()) told_.failures.push_back(step.name + ": " + why);
  changed_.notify_all();
}

void StepQueue::give_up() {
  const threads::MutexLock lock(mutex_);
  gives_up_ = true;
  changed_.notify_all();
}

}  // namespace proxy::command
