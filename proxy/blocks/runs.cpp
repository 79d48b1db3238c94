#include "proxy/blocks/runs.hpp"

#include <algorithm>

namespace proxy {

using net::Task;

Runs::Use& Runs::Use::operator=(Use&& other) noexcept {
  if (this == &other) return *this;
  release();
  runs_ = other.runs_;
  run_ = std::move(other.run_);
  return *this;
}

void Runs::Use::release() {
  if (run_) runs_->leave(*run_);
  run_.reset();
}

const Runs::List* Runs::listed(const cache::Entry& object) const {
  const auto place = runs_.find(object.object->version);
  return place == runs_.end() ? nullptr : &place->second;
}

Runs::Taken Runs::join(const std::shared_ptr<Run>& run, std::uint32_t block,
                       net::Executor executor) {
  Taken taken;
  ++run->readers_;
  taken.use = Use(*this, run);
  taken.block = FillReader::attach(run->fill_of(block), executor);
  run->asked_for_ = std::max(run->asked_for_, block);
  run->writer_.notify();
  return taken;
}

Runs::Taken Runs::take(const Wanted& wanted, const Held& held, net::Executor executor) {
  const std::lock_guard lock(mutex_);
  const auto* const others = listed(*wanted.object);
  if (others) {
    for (const auto& run : *others) {
      if (run->brings(wanted.block)) return join(run, wanted.block, executor);
    }
  }
  if (!wanted.may_begin || held(wanted.block)) return {};
  const auto under_way_elsewhere = [&](std::uint32_t block) {
    return others && std::any_of(others->begin(), others->end(),
                                 [&](const auto& run) { return run->brings(block); });
  };
  cache::BlockRun blocks{wanted.block, wanted.block};
  while (blocks.last < wanted.last && blocks.last - blocks.first + 1 < kMost) {
    const auto after = blocks.last + 1;
    if (held(after) || under_way_elsewhere(after)) break;
    blocks.last = after;
  }
  RunPlan plan;
  plan.blocks = blocks;
  const auto run = std::make_shared<Run>(wanted.object, std::move(plan), executor);
  runs_[wanted.object->object->version].push_back(run);
  auto taken = join(run, wanted.block, executor);
  taken.begun = true;
  return taken;
}

bool Runs::ask(const Use& use, std::uint32_t block) {
  const std::lock_guard lock(mutex_);
  auto& run = *use.run();
  if (block > run.plan_.blocks.last) return false;
  if (block > run.asked_for_) {
    run.asked_for_ = block;
    run.writer_.notify();
  }
  return true;
}

bool Runs::under_way(const cache::Entry& object, std::uint32_t block) const {
  const std::lock_guard lock(mutex_);
  const auto* const list = listed(object);
  return list && std::any_of(list->begin(), list->end(),
                             [block](const auto& run) { return run->brings(block); });
}

std::shared_ptr<Run> Runs::begin(std::shared_ptr<const cache::Entry> object, RunPlan plan,
                                 net::Executor writer) {
  const auto version = object->object->version;
  auto run = std::make_shared<Run>(std::move(object), std::move(plan), writer);
  const std::lock_guard lock(mutex_);
  runs_[version].push_back(run);
  return run;
}

void Runs::on_unwanted(Run& run, std::function<void()> unwanted) {
  const std::lock_guard lock(mutex_);
  run.unwanted_ = std::move(unwanted);
}

void Runs::replan(Run& run, cache::BlockRun blocks, bool through) {
  const std::lock_guard lock(mutex_);
  run.plan_.blocks = blocks;
  run.plan_.through = through;
  run.next_ = blocks.first;
}

cache::BlockRun Runs::blocks(const Run& run) const {
  const std::lock_guard lock(mutex_);
  return run.plan_.blocks;
}

bool Runs::another_brings(const Run& run, std::uint32_t block) const {
  const auto* const list = listed(*run.object);
  return list && std::any_of(list->begin(), list->end(), [&](const auto& other) {
           return other.get() != &run && other->brings(block);
         });
}

Task<Runs::Next> Runs::next(std::shared_ptr<Run> run, Held held) {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      auto& plan = run->plan_;
      const auto block = run->next_;
      const bool over = block > plan.blocks.last || !run->is_wanted();
      const bool begun = block == plan.blocks.first || plan.through || run->fills_.contains(block);
      if (over || (!begun && (held(block) || another_brings(*run, block)))) {
        if (!over) plan.blocks.last = block - 1;
        co_return Next{block, nullptr};
      }
      if (block <= run->asked_for_ + kAhead) co_return Next{block, run->fill_of(block)};
    }
    co_await run->writer_.wait();
  }
}

void Runs::done(Run& run) {
  const std::lock_guard lock(mutex_);
  run.fills_.erase(run.next_++);
}

bool Runs::wanted(const Run& run) const {
  const std::lock_guard lock(mutex_);
  return run.is_wanted();
}

void Runs::end(Run& run, Failure failure) {
  const std::lock_guard lock(mutex_);
  run.unwanted_ = nullptr;
  run.plan_.also_wanted = nullptr;
  const auto place = runs_.find(run.object->object->version);
  if (place != runs_.end()) {
    std::erase_if(place->second, [&run](const auto& listed) { return listed.get() == &run; });
    if (place->second.empty()) runs_.erase(place);
  }
  for (const auto& [block, fill] : run.fills_) fill->fail(failure);
  run.fills_.clear();
}

void Runs::look_whether_wanted(Run& run) {
  const std::lock_guard lock(mutex_);
  run.look_whether_wanted();
}

void Runs::leave(Run& run) {
  const std::lock_guard lock(mutex_);
  --run.readers_;
  run.look_whether_wanted();
}

void Runs::clear() {
  const std::lock_guard lock(mutex_);
  runs_.clear();
}

}  // namespace proxy
