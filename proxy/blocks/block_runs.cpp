#include "proxy/blocks/block_runs.hpp"

#include <algorithm>

namespace proxy::blocks {

using net::Task;

namespace {

// How long a writer waits before it looks again for a spare slot. No client waits for the block, so
// a second costs nothing.
constexpr std::chrono::seconds kUntilNextLook{1};

// The blocks from wanted.block to before the next stored one. Nothing if wanted.block is stored.
std::optional<cache::BlockRange> missing_from(const BlockRuns::Wanted& wanted,
                                              const BlockRuns::IsStored& is_stored) {
  if (is_stored(wanted.block)) return {};
  const auto furthest = std::min(wanted.last - wanted.block, BlockRuns::kMost - 1) + wanted.block;
  cache::BlockRange missing{wanted.block, wanted.block};
  while (missing.last < furthest && !is_stored(missing.last + 1)) ++missing.last;
  return missing;
}

}  // namespace

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
  // A short run reaches its last block soon: a second connection would gain nothing.
  const bool long_one = plan_.blocks.last - plan_.blocks.first >= BlockRuns::kMost;
  const bool far = block > next_ + 1 && block - next_ >= BlockRuns::kLead;
  return long_one && far && !plan_.through && fills_.lower_bound(block) == fills_.end();
}

// A new fill gets its head at once, so that readers get the bytes as they arrive.
const std::shared_ptr<fill::Fill>& BlockRun::fill_of(std::uint32_t block) {
  auto& fill = fills_[block];
  if (fill) return fill;
  fill = std::make_shared<fill::Fill>(object->url(), executor_);
  fill::FillHead head;
  head.entry = object;
  fill->publish(std::move(head));
  return fill;
}

BlockRun::Asked BlockRun::ask(std::uint32_t block) {
  const threads::MutexLock lock(guard_);
  if (block > plan_.blocks.last || readers_.is_too_late) return Asked::not_supplied;
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

void BlockRun::replan_whole() {
  const threads::MutexLock lock(guard_);
  plan_.blocks = {0, cache::blocks_in(object->body.size) - 1};
  plan_.through = true;
  next_ = 0;
}

void BlockRun::supply_from(peers::PeerRef peer) {
  const threads::MutexLock lock(guard_);
  neighbours_.peer = std::move(peer);
}

peers::PeerRef BlockRun::peer() const {
  const threads::MutexLock lock(guard_);
  return neighbours_.peer;
}

void BlockRun::record(observe::Inquiries inquiries) {
  const threads::MutexLock lock(guard_);
  neighbours_.inquiries = std::move(inquiries);
}

observe::Inquiries BlockRun::inquiries() const {
  const threads::MutexLock lock(guard_);
  return neighbours_.inquiries;
}

void BlockRun::begin_again() {
  const threads::MutexLock lock(guard_);
  neighbours_.peer = nullptr;
  plan_.blocks.first = next_;
  const auto under_way = fills_.find(next_);
  if (under_way == fills_.end()) return;
  under_way->second->fail({upstream::Failure::Where::us, upstream::Failure::What::abandoned, {}});
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
  // Asked without the lock: what it calls is not ours. A reader may have come meanwhile.
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
  return shards_[object.object()->version % shards_.size()];
}

const BlockRuns::List& BlockRuns::listed(const Shard& shard, const cache::Entry& object) {
  static const List kNone;
  const auto place = shard.runs.find(object.object()->version);
  return place == shard.runs.end() ? kNone : place->second;
}

BlockRuns::Taken BlockRuns::join(const Shard& shard, const std::shared_ptr<BlockRun>& run,
                                 std::uint32_t block, net::Executor executor) {
  Taken taken;
  run->expect_guard(shard.mutex);
  ++run->readers_.count;
  taken.use = Use(*this, run);
  taken.block = fill::FillReader::attach(run->fill_of(block), executor);
  // A new reader may be ahead of all others, and the writer waits for the furthest.
  run->readers_.asked_for = std::max(run->readers_.asked_for, block);
  run->writer_.notify();
  return taken;
}

// The run that supplies the block, other than `but`.
std::shared_ptr<BlockRun> BlockRuns::supplier_of(const Shard& shard, const cache::Entry& object,
                                                 std::uint32_t block, const BlockRun* but) {
  const auto& list = listed(shard, object);
  const auto supplies = [&](const std::shared_ptr<BlockRun>& run) REQUIRES(shard.mutex) {
    run->expect_guard(shard.mutex);
    return run.get() != but && run->supplies(block);
  };
  const auto found = std::find_if(list.begin(), list.end(), supplies);
  return found == list.end() ? nullptr : *found;
}

// Whether a new run may have the block: no other run supplies it, or the other run may cede it.
bool BlockRuns::is_free(const Shard& shard, const Wanted& wanted, std::uint32_t block) {
  const auto& list = listed(shard, *wanted.object);
  const bool early = wanted.begin == Wanted::Begin::early;
  const auto keeps = [&](const std::shared_ptr<BlockRun>& run) REQUIRES(shard.mutex) {
    run->expect_guard(shard.mutex);
    return run->supplies(block) && !(early && run->may_cede(block));
  };
  return std::none_of(list.begin(), list.end(), keeps);
}

BlockRuns::Taken BlockRuns::take(const Wanted& wanted, const IsStored& is_stored,
                                 net::Executor executor) {
  const bool early = wanted.begin == Wanted::Begin::early;
  std::optional<cache::BlockRange> missing;
  std::uint64_t as_of = 0;
  auto& shard = shard_of(*wanted.object);
  threads::MutexLock lock(shard.mutex);
  for (;;) {
    const auto run = early ? nullptr : supplier_of(shard, *wanted.object, wanted.block);
    if (run) return join(shard, run, wanted.block, executor);
    if (wanted.begin == Wanted::Begin::no || (early && !may_begin_early(shard, wanted))) return {};
    if (missing && as_of == shard.supplied) return begin(shard, wanted, *missing, executor);
    as_of = shard.supplied;  // unlocked from here on: a block that a run supplies may get stored
    lock.unlock();
    missing = missing_from(wanted, is_stored);
    if (!missing) return {};
    lock.lock();
  }
}

bool BlockRuns::may_begin_early(const Shard& shard, const Wanted& wanted) {
  const bool is_many = listed(shard, *wanted.object).size() >= kManyOfOne;
  return !is_many && is_free(shard, wanted, wanted.block);
}

BlockRuns::Taken BlockRuns::begin(Shard& shard, const Wanted& wanted, cache::BlockRange missing,
                                  net::Executor executor) {
  RunPlan plan;
  plan.blocks = {missing.first, missing.first};
  while (plan.blocks.last < missing.last && is_free(shard, wanted, plan.blocks.last + 1)) {
    ++plan.blocks.last;
  }
  plan.early = wanted.begin == Wanted::Begin::early;
  auto& list = shard.runs[wanted.object->object()->version];
  const auto run =
      std::make_shared<BlockRun>(wanted.object, std::move(plan), executor, shard.mutex);
  for (const auto& other : list) {
    other->expect_guard(shard.mutex);
    if (!other->supplies(missing.first)) continue;
    other->ceded_.to = run.get();
    other->ceded_.last = std::exchange(other->plan_.blocks.last, missing.first - 1);
  }
  enlist(shard, run);
  auto taken = join(shard, run, wanted.block, executor);
  taken.begun = true;
  return taken;
}

std::optional<std::uint32_t> BlockRuns::under_way(const cache::Entry& object,
                                                  std::uint32_t block) const {
  auto& shard = shard_of(object);
  const threads::MutexLock lock(shard.mutex);
  const auto run = supplier_of(shard, object, block);
  if (!run) return {};
  run->expect_guard(shard.mutex);
  return run->last_near();
}

std::shared_ptr<BlockRun> BlockRuns::begin(cache::Ref<const cache::Entry> object, RunPlan plan,
                                           net::Executor writer) {
  auto& shard = shard_of(*object);
  auto run = std::make_shared<BlockRun>(std::move(object), std::move(plan), writer, shard.mutex);
  const threads::MutexLock lock(shard.mutex);
  enlist(shard, run);
  return run;
}

void BlockRuns::enlist(Shard& shard, const std::shared_ptr<BlockRun>& run) {
  auto& list = shard.runs[run->object->object()->version];
  list.push_back(run);
  for (const auto& one : list) {
    one->expect_guard(shard.mutex);
    one->ceded_.accompanied = one->ceded_.accompanied || list.size() > 1;
  }
}

void BlockRuns::decline(BlockRun& run) {
  auto& shard = shard_of(*run.object);
  const threads::MutexLock lock(shard.mutex);
  run.denied_ = BlockRun::Denied::declined;
  for (const auto& other : listed(shard, *run.object)) {
    other->expect_guard(shard.mutex);
    // If that run has ended at its shorter plan meanwhile, readers begin a new one.
    if (other->ceded_.to != &run) continue;
    other->ceded_.to = nullptr;
    other->plan_.blocks.last = other->ceded_.last;
  }
}

// `is_stored` asks the store and the index, so no lock is held meanwhile.
bool BlockRuns::is_over(BlockRun& run, const IsStored& is_stored) {
  if (!run.wanted()) return true;
  auto& shard = shard_of(*run.object);
  threads::MutexLock lock(shard.mutex);
  for (;;) {
    run.expect_guard(shard.mutex);
    const auto block = run.next_;
    if (block > run.plan_.blocks.last) return true;
    if (block == run.plan_.blocks.first || run.plan_.through || run.fills_.contains(block)) {
      return false;
    }
    const auto as_of = shard.supplied;
    lock.unlock();
    const bool is_stored_now = is_stored(block);
    lock.lock();
    if (is_stored_now || supplier_of(shard, *run.object, block, &run)) {
      run.plan_.blocks.last = std::min(run.plan_.blocks.last, block - 1);
      return true;
    }
    if (as_of == shard.supplied) return false;  // otherwise the block may be stored by now
  }
}

Task<BlockRuns::Next> BlockRuns::next(std::shared_ptr<BlockRun> run, IsStored is_stored) {
  for (;;) {
    const bool over = is_over(*run, is_stored);
    std::optional<std::chrono::milliseconds> at_most;
    {
      auto& shard = shard_of(*run->object);
      const threads::MutexLock lock(shard.mutex);
      run->expect_guard(shard.mutex);
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
  auto& shard = shard_of(*run.object);
  const threads::MutexLock lock(shard.mutex);
  run.expect_guard(shard.mutex);
  run.fills_.erase(run.next_++);
  // Whoever looked into the store without the lock has to look again: see take().
  ++shard.supplied;
}

void BlockRuns::end(BlockRun& run, const RunEnd& how) {
  auto& shard = shard_of(*run.object);
  const threads::MutexLock lock(shard.mutex);
  run.expect_guard(shard.mutex);
  run.readers_.is_too_late = true;
  run.readers_.on_unwanted = nullptr;
  run.plan_.also_wanted = nullptr;
  const auto place = shard.runs.find(run.object->object()->version);
  if (place != shard.runs.end()) {
    std::erase_if(place->second, [&run](const auto& listed) { return listed.get() == &run; });
    for (const auto& other : place->second) {
      other->expect_guard(shard.mutex);
      if (other->ceded_.to == &run) other->ceded_.to = nullptr;
    }
    if (place->second.empty()) shard.runs.erase(place);
  }
  for (const auto& [block, fill] : run.fills_) fill->fail(how.for_readers());
  run.fills_.clear();
}

void BlockRuns::leave(BlockRun& run) {
  {
    auto& shard = shard_of(*run.object);
    const threads::MutexLock lock(shard.mutex);
    run.expect_guard(shard.mutex);
    --run.readers_.count;
  }
  run.look_whether_wanted();
}

void BlockRuns::clear() {
  for (auto& shard : shards_) {
    const threads::MutexLock lock(shard.mutex);
    shard.runs.clear();
  }
}

}  // namespace proxy::blocks
