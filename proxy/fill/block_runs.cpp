#include "proxy/fill/block_runs.hpp"

#include <algorithm>

namespace proxy {

using net::Task;

namespace {

// For a slot to spare. Nobody waits for the block, so that a second costs no client anything.
constexpr std::chrono::seconds kUntilNextLook{1};

// From wanted.block to before the next stored one; nothing if that block is stored itself.
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

BlockRuns::Shard& BlockRuns::shard_of(const cache::Entry& object) const {
  return shards_[object.object->version % shards_.size()];
}

const BlockRuns::List* BlockRuns::listed(const cache::Entry& object) const {
  const auto& runs = shard_of(object).runs;
  const auto place = runs.find(object.object->version);
  return place == runs.end() ? nullptr : &place->second;
}

BlockRuns::Taken BlockRuns::join(const std::shared_ptr<BlockRun>& run, std::uint32_t block,
                                 net::Executor executor) {
  Taken taken;
  ++run->readers_.count;
  taken.use = Use(*this, run);
  taken.block = FillReader::attach(run->fill_of(block), executor);
  run->readers_.asked_for = std::max(run->readers_.asked_for, block);
  run->writer_.notify();
  return taken;
}

// The run that supplies the block, other than `but`.
std::shared_ptr<BlockRun> BlockRuns::bringing(const cache::Entry& object, std::uint32_t block,
                                              const BlockRun* but) const {
  const auto* const list = listed(object);
  if (!list) return nullptr;
  const auto found = std::find_if(list->begin(), list->end(), [&](const auto& run) {
    return run.get() != but && run->brings(block);
  });
  return found == list->end() ? nullptr : *found;
}

// Whether a new run may have the block: no other supplies it, or that run may cede it.
bool BlockRuns::is_free(const Wanted& wanted, std::uint32_t block) const {
  const auto* const list = listed(*wanted.object);
  if (!list) return true;
  const bool early = wanted.begin == Wanted::Begin::early;
  return std::none_of(list->begin(), list->end(), [&](const auto& run) {
    return run->brings(block) && !(early && run->may_cede(block));
  });
}

BlockRuns::Taken BlockRuns::take(const Wanted& wanted, const IsStored& is_stored,
                                 net::Executor executor) {
  const bool early = wanted.begin == Wanted::Begin::early;
  std::optional<cache::BlockRange> missing;
  std::uint64_t as_of = 0;
  auto& shard = shard_of(*wanted.object);
  std::unique_lock lock(shard.mutex);
  for (;;) {
    const auto run = early ? nullptr : bringing(*wanted.object, wanted.block);
    if (run) return join(run, wanted.block, executor);
    if (wanted.begin == Wanted::Begin::no || (early && !may_begin_early(wanted))) return {};
    if (missing && as_of == shard.brought) return begin(wanted, *missing, executor);
    as_of = shard.brought;  // a block that is brought meanwhile may be stored by then
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
  auto& list = shard_of(*wanted.object).runs[wanted.object->object->version];
  const auto run = std::make_shared<BlockRun>(wanted.object, std::move(plan), executor,
                                              shard_of(*wanted.object).mutex);
  for (const auto& other : list) {
    if (!other->brings(missing.first)) continue;
    other->ceded_.to = run.get();
    other->ceded_.last = std::exchange(other->plan_.blocks.last, missing.first - 1);
  }
  list.push_back(run);
  auto taken = join(run, wanted.block, executor);
  taken.begun = true;
  return taken;
}

std::optional<std::uint32_t> BlockRuns::under_way(const cache::Entry& object,
                                                  std::uint32_t block) const {
  const auto lock = lock_of(object);
  const auto run = bringing(object, block);
  return run ? std::optional(run->last_near()) : std::nullopt;
}

std::shared_ptr<BlockRun> BlockRuns::begin(std::shared_ptr<const cache::Entry> object, RunPlan plan,
                                           net::Executor writer) {
  auto& shard = shard_of(*object);
  auto run = std::make_shared<BlockRun>(std::move(object), std::move(plan), writer, shard.mutex);
  const std::lock_guard lock(shard.mutex);
  shard.runs[run->object->object->version].push_back(run);
  return run;
}

void BlockRuns::decline(BlockRun& run) {
  const auto lock = lock_of(*run.object);
  run.denied_ = BlockRun::Denied::declined;
  const auto* const list = listed(*run.object);
  if (!list) return;
  for (const auto& other : *list) {
    if (other->ceded_.to != &run) continue;
    other->ceded_.to = nullptr;
    other->plan_.blocks.last = other->ceded_.last;
  }
}

// `is_stored` asks the store and the index, so no lock is held meanwhile.
bool BlockRuns::is_over(BlockRun& run, const IsStored& is_stored) {
  if (!run.wanted()) return true;
  auto& shard = shard_of(*run.object);
  auto& plan = run.plan_;
  std::unique_lock lock(shard.mutex);
  for (;;) {
    const auto block = run.next_;
    if (block > plan.blocks.last) return true;
    if (block == plan.blocks.first || plan.through || run.fills_.contains(block)) return false;
    const auto as_of = shard.brought;
    lock.unlock();
    const bool is_held = is_stored(block);
    lock.lock();
    if (is_held || bringing(*run.object, block, &run)) {
      plan.blocks.last = std::min(plan.blocks.last, block - 1);
      return true;
    }
    if (as_of == shard.brought) return false;  // else it may be stored by now
  }
}

Task<BlockRuns::Next> BlockRuns::next(std::shared_ptr<BlockRun> run, IsStored is_stored) {
  for (;;) {
    const bool over = is_over(*run, is_stored);
    std::optional<std::chrono::milliseconds> at_most;
    {
      const auto lock = lock_of(*run->object);
      const auto block = run->next_;
      if (over) co_return Next{block, nullptr};
      if (block <= run->readers_.asked_for || block - run->readers_.asked_for <= kAhead) {
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
  const auto lock = lock_of(*run.object);
  run.fills_.erase(run.next_++);
  ++shard_of(*run.object).brought;
}

void BlockRuns::end(BlockRun& run, const RunEnd& how) {
  const auto lock = lock_of(*run.object);
  run.ended_ = true;
  run.readers_.on_unwanted = nullptr;
  run.plan_.also_wanted = nullptr;
  auto& runs = shard_of(*run.object).runs;
  const auto place = runs.find(run.object->object->version);
  if (place != runs.end()) {
    std::erase_if(place->second, [&run](const auto& listed) { return listed.get() == &run; });
    for (const auto& other : place->second) {
      if (other->ceded_.to == &run) other->ceded_.to = nullptr;
    }
    if (place->second.empty()) runs.erase(place);
  }
  for (const auto& [block, fill] : run.fills_) fill->fail(how.for_readers());
  run.fills_.clear();
}

void BlockRuns::leave(BlockRun& run) {
  {
    const auto lock = lock_of(*run.object);
    --run.readers_.count;
  }
  run.look_whether_wanted();
}

void BlockRuns::clear() {
  for (auto& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    shard.runs.clear();
  }
}

}  // namespace proxy
