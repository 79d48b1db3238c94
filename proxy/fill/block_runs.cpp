#include "proxy/fill/block_runs.hpp"

#include <algorithm>

namespace proxy {

using net::Task;

namespace {

// For a place that is spare: nobody waits for what it is for.
constexpr std::chrono::seconds kUntilNextLook{1};

// From the block on, before the next one that is held.
std::optional<cache::BlockRange> missing_from(const BlockRuns::Wanted& wanted,
                                              const BlockRuns::IsStored& is_stored) {
  if (is_stored(wanted.block)) return {};
  const auto furthest = std::min(wanted.last - wanted.block, BlockRuns::kMost - 1) + wanted.block;
  cache::BlockRange missing{wanted.block, wanted.block};
  while (missing.last < furthest && !is_stored(missing.last + 1)) ++missing.last;
  return missing;
}

}  // namespace

BlockRuns::Use& BlockRuns::Use::operator=(Use&& other) noexcept {
  if (this == &other) return *this;
  release();
  runs_ = other.runs_;
  run_ = std::move(other.run_);
  return *this;
}

void BlockRuns::Use::release() {
  if (run_) runs_->leave(*run_);
  run_.reset();
}

const BlockRuns::List* BlockRuns::listed(const cache::Entry& object) const {
  const auto place = runs_.find(object.object->version);
  return place == runs_.end() ? nullptr : &place->second;
}

BlockRuns::Taken BlockRuns::join(const std::shared_ptr<BlockRun>& run, std::uint32_t block,
                                 net::Executor executor) {
  Taken taken;
  ++run->readers_;
  taken.use = Use(*this, run);
  taken.block = FillReader::attach(run->fill_of(block), executor);
  run->asked_for_ = std::max(run->asked_for_, block);
  run->writer_.notify();
  return taken;
}

// The run that brings it, other than that one.
std::shared_ptr<BlockRun> BlockRuns::bringing(const cache::Entry& object, std::uint32_t block,
                                              const BlockRun* but) const {
  const auto* const list = listed(object);
  if (!list) return nullptr;
  const auto found = std::find_if(list->begin(), list->end(), [&](const auto& run) {
    return run.get() != but && run->brings(block);
  });
  return found == list->end() ? nullptr : *found;
}

// Whether a new run may have it.
bool BlockRuns::is_free(const Wanted& wanted, std::uint32_t block) const {
  const auto* const list = listed(*wanted.object);
  if (!list) return true;
  const bool early = wanted.begin == Wanted::Begin::early;
  return std::none_of(list->begin(), list->end(), [&](const auto& run) {
    return run->brings(block) && !(early && run->may_leave(block));
  });
}

BlockRuns::Taken BlockRuns::take(const Wanted& wanted, const IsStored& is_stored,
                                 net::Executor executor) {
  const bool early = wanted.begin == Wanted::Begin::early;
  std::optional<cache::BlockRange> missing;
  std::uint64_t as_of = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto run = early ? nullptr : bringing(*wanted.object, wanted.block);
    if (run) return join(run, wanted.block, executor);
    if (wanted.begin == Wanted::Begin::no || (early && !may_begin_early(wanted))) return {};
    if (missing && as_of == brought_) return begin(wanted, *missing, executor);
    as_of = brought_;  // what is brought meanwhile may be missed no more
    lock.unlock();
    missing = missing_from(wanted, is_stored);
    if (!missing) return {};
    lock.lock();
  }
}

bool BlockRuns::may_begin_early(const Wanted& wanted) const {
  const auto* const list = listed(*wanted.object);
  return (!list || list->size() < kManyOfOne) && is_free(wanted, wanted.block);
}

BlockRuns::Taken BlockRuns::begin(const Wanted& wanted, cache::BlockRange missing,
                                  net::Executor executor) {
  RunPlan plan;
  plan.blocks = {missing.first, missing.first};
  while (plan.blocks.last < missing.last && is_free(wanted, plan.blocks.last + 1)) {
    ++plan.blocks.last;
  }
  plan.early = wanted.begin == Wanted::Begin::early;
  auto& list = runs_[wanted.object->object->version];
  const auto run = std::make_shared<BlockRun>(wanted.object, std::move(plan), executor);
  for (const auto& other : list) {
    if (!other->brings(missing.first)) continue;
    other->left_to_ = run.get();
    other->left_last_ = std::exchange(other->plan_.blocks.last, missing.first - 1);
  }
  list.push_back(run);
  auto taken = join(run, wanted.block, executor);
  taken.begun = true;
  return taken;
}

bool BlockRuns::ask(const Use& use, std::uint32_t block) {
  const std::lock_guard lock(mutex_);
  auto& run = *use.run();
  if (block > run.plan_.blocks.last || run.ended_) return false;
  if (block > run.asked_for_) {
    run.asked_for_ = block;
    run.writer_.notify();
  }
  return true;
}

std::optional<std::uint32_t> BlockRuns::under_way(const cache::Entry& object,
                                                  std::uint32_t block) const {
  const std::lock_guard lock(mutex_);
  const auto run = bringing(object, block);
  return run ? std::optional(run->last_near()) : std::nullopt;
}

std::shared_ptr<BlockRun> BlockRuns::begin(std::shared_ptr<const cache::Entry> object, RunPlan plan,
                                           net::Executor writer) {
  const auto version = object->object->version;
  auto run = std::make_shared<BlockRun>(std::move(object), std::move(plan), writer);
  const std::lock_guard lock(mutex_);
  runs_[version].push_back(run);
  return run;
}

void BlockRuns::on_unwanted(BlockRun& run, std::function<void()> unwanted) {
  const std::lock_guard lock(mutex_);
  run.unwanted_ = std::move(unwanted);
}

void BlockRuns::replan(BlockRun& run, cache::BlockRange blocks, bool through) {
  const std::lock_guard lock(mutex_);
  run.plan_.blocks = blocks;
  run.plan_.through = through;
  run.next_ = blocks.first;
}

void BlockRuns::take_from(BlockRun& run, peers::PeerRef peer) {
  const std::lock_guard lock(mutex_);
  run.peer_ = std::move(peer);
}

peers::PeerRef BlockRuns::peer(const BlockRun& run) const {
  const std::lock_guard lock(mutex_);
  return run.peer_;
}

void BlockRuns::tell(BlockRun& run, std::string detail) {
  const std::lock_guard lock(mutex_);
  run.detail_ = std::move(detail);
}

std::string BlockRuns::detail(const BlockRun& run) const {
  const std::lock_guard lock(mutex_);
  return run.detail_;
}

void BlockRuns::begin_again(BlockRun& run) {
  const std::lock_guard lock(mutex_);
  run.peer_ = nullptr;
  run.plan_.blocks.first = run.next_;
  const auto under_way = run.fills_.find(run.next_);
  if (under_way == run.fills_.end()) return;
  under_way->second->fail({Failure::Where::us, Failure::What::abandoned, {}});
  run.fills_.erase(under_way);
}

BlockRuns::Rest BlockRuns::rest(BlockRun& run) {
  const std::lock_guard lock(mutex_);
  auto& plan = run.plan_;
  plan.blocks.first = run.next_;
  const auto under_way = run.fills_.find(run.next_);
  const auto reached = under_way == run.fills_.end() ? 0 : under_way->second->received();
  return {plan.blocks, reached, plan.through};
}

void BlockRuns::decline(BlockRun& run) {
  const std::lock_guard lock(mutex_);
  run.declined_ = true;
  const auto* const list = listed(*run.object);
  if (!list) return;
  for (const auto& other : *list) {
    if (other->left_to_ != &run) continue;
    other->left_to_ = nullptr;
    other->plan_.blocks.last = other->left_last_;
  }
}

cache::BlockRange BlockRuns::blocks(const BlockRun& run) const {
  const std::lock_guard lock(mutex_);
  return run.plan_.blocks;
}

Task<BlockRuns::Next> BlockRuns::next(std::shared_ptr<BlockRun> run, IsStored is_stored) {
  for (;;) {
    std::optional<std::chrono::milliseconds> at_most;
    {
      const std::lock_guard lock(mutex_);
      auto& plan = run->plan_;
      const auto block = run->next_;
      const bool over = block > plan.blocks.last || !run->is_wanted();
      const bool begun = block == plan.blocks.first || plan.through || run->fills_.contains(block);
      if (over || (!begun && (is_stored(block) || bringing(*run->object, block, run.get())))) {
        if (!over) plan.blocks.last = block - 1;
        co_return Next{block, nullptr};
      }
      if (block <= run->asked_for_ || block - run->asked_for_ <= kAhead) {
        const bool waited_for = run->fills_.lower_bound(block) != run->fills_.end();
        Next next{block, nullptr};
        if (!waited_for) next.slot = slots_.spare();
        if (waited_for || next.slot) {
          next.fill = run->fill_of(block);
          co_return next;
        }
        at_most = kUntilNextLook;
      }
    }
    co_await run->writer_.wait(at_most);
  }
}

void BlockRuns::done(BlockRun& run) {
  const std::lock_guard lock(mutex_);
  run.fills_.erase(run.next_++);
  ++brought_;
}

bool BlockRuns::wanted(const BlockRun& run) const {
  const std::lock_guard lock(mutex_);
  return run.is_wanted();
}

void BlockRuns::end(BlockRun& run, const RunEnd& how) {
  const std::lock_guard lock(mutex_);
  run.ended_ = true;
  run.unwanted_ = nullptr;
  run.plan_.also_wanted = nullptr;
  const auto place = runs_.find(run.object->object->version);
  if (place != runs_.end()) {
    std::erase_if(place->second, [&run](const auto& listed) { return listed.get() == &run; });
    for (const auto& other : place->second) {
      if (other->left_to_ == &run) other->left_to_ = nullptr;
    }
    if (place->second.empty()) runs_.erase(place);
  }
  for (const auto& [block, fill] : run.fills_) fill->fail(how.for_readers());
  run.fills_.clear();
}

void BlockRuns::look_whether_wanted(BlockRun& run) {
  const std::lock_guard lock(mutex_);
  run.look_whether_wanted();
}

void BlockRuns::leave(BlockRun& run) {
  const std::lock_guard lock(mutex_);
  --run.readers_;
  run.look_whether_wanted();
}

void BlockRuns::clear() {
  const std::lock_guard lock(mutex_);
  runs_.clear();
}

}  // namespace proxy
