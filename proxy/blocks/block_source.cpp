#include "proxy/blocks/block_source.hpp"

#include <utility>

#include "proxy/blocks/fetch_run.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/tiers/tiers.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

using net::Task;
using std::chrono::steady_clock;
using Begin = BlockRuns::Wanted::Begin;

namespace {

constexpr int kMostEnds = 3;  // of runs that others' leaving has ended, for one block
constexpr int kMostLooks = 4;
constexpr Failure kNotHeld{Failure::Where::us, Failure::What::abandoned, {}};
constexpr Failure kOverload{Failure::Where::us, Failure::What::overload, {}};

}  // namespace

BlockSource::BlockSource(Worker& worker, Of of)
    : worker_(worker),
      of_(std::move(of)),
      is_held_([this](std::uint32_t block) {
        return has_block(worker_.process, of_.key, *of_.object, block);
      }),
      may_ask_(of_.may_fetch && !of_.object->range &&
               !cache::strong_validator(*of_.object).empty()) {}

void BlockSource::go_to(std::uint32_t block, std::uint32_t last) {
  const auto now = steady_clock::now();
  if (reader_ && given_ == size()) pace_.note(now - begun_, waited_);
  begun_ = now;
  waited_ = {};
  block_ = block;
  last_ = last;
  given_ = position_ = 0;
  cuts_ = ends_ = 0;
  looked_ahead_ = false;
  held_.reset();
  reader_.reset();
  slot_.release();
  if (ahead_.block && ahead_block_ == block) {
    slot_ = std::move(ahead_place_);
    use(std::exchange(ahead_, {}));
  }
  if (ahead_block_ <= block || ahead_block_ > last) drop_ahead();
}

void BlockSource::drop_ahead() {
  ahead_ = {};
  ahead_place_.release();
}

std::uint64_t BlockSource::size() const {
  return cache::bytes_of_block(block_, of_.object->body.size).size();
}

// Whether it is read from a run now.
bool BlockSource::use(BlockRuns::Taken taken) {
  if (!taken.block) return false;
  if (taken.use.run() != use_.run()) came_ = false;
  use_ = std::move(taken.use);
  reader_ = std::move(taken.block);
  position_ = 0;
  return true;
}

BlockRuns::Taken BlockSource::take(std::uint32_t block, Begin begin,
                                   const BlockRuns::IsStored& held) {
  auto& worker = worker_;
  const BlockRuns::Wanted wanted{of_.object, block, last_, may_ask_ ? begin : Begin::no};
  auto taken = worker.process.runs.take(wanted, held, worker.io.get_executor());
  if (taken.begun) {
    RunJob job{taken.use.run(), of_.key, std::make_unique<OwnedRequest>(of_.request), patience_};
    start_run(worker, std::move(job));
  }
  return taken;
}

// In its turn, where there is none: then what was begun early must not keep one from others.
Task<bool> BlockSource::have_slot(TransferSlots::For what) {
  if (slot_.serves(what)) co_return true;
  auto& room = worker_.process.runs.slots();
  slot_.release();
  slot_ = room.try_take(what);
  if (!slot_) {
    drop_ahead();
    slot_ = co_await room.take(what, worker_.io.get_executor());
  }
  co_return static_cast<bool>(slot_);
}

Task<void> BlockSource::look_among_held() {
  auto found = co_await block_held(worker_, of_.key, of_.object, block_);
  held_ = std::move(found.block);
  from_disk_ = from_disk_ || found.from_disk;
}

Task<Outcome<void>> BlockSource::acquire() {
  if (use_.run() && !worker_.process.runs.ask(use_, block_)) use_ = {};
  for (int looks = 0; looks < kMostLooks; ++looks) {
    const bool there = is_held_(block_);
    if (!there && !of_.may_fetch) co_return kNotHeld;
    const auto what = there ? TransferSlots::For::stored : TransferSlots::For::fetched;
    bool has_slot = co_await have_slot(what);
    if (!has_slot) co_return kOverload;
    if (there) co_await look_among_held();
    if (held_) break;
    if (!of_.may_fetch) co_return kNotHeld;
    // Held, but not to be had: by a disk that is busy, or under a purge that is on its way.
    const bool in_vain = there && looks > 0;
    if (in_vain) {
      has_slot = co_await have_slot(TransferSlots::For::fetched);
      if (!has_slot) co_return kOverload;
    }
    const BlockRuns::IsStored held = [&](std::uint32_t block) {
      return is_held_(block) && !(in_vain && block == block_);
    };
    auto taken = take(block_, Begin::needed, held);
    if (use(std::move(taken))) break;
    if (!may_ask_ && !is_held_(block_)) co_return kNotHeld;
  }
  if (!held_ && !reader_) co_return kOverload;
  co_return boost::system::in_place_value;
}

// So that nobody waits for an answer between two runs, nor for one connection where two bring more.
void BlockSource::look_ahead() {
  if (std::exchange(looked_ahead_, true) || block_ >= last_ || !may_ask_) return;
  auto& runs = worker_.process.runs;
  const bool in_run = use_.run() && runs.ask(use_, block_ + 1);
  if (ahead_.use.run() && ahead_.use.run()->declined()) {
    alone_ = true;
    drop_ahead();
  }
  if (alone_ || ahead_.use.run()) return;
  const auto from = ahead_from(in_run);
  if (!from || *from > last_ || is_held_(*from)) return;
  auto place = runs.slots().spare();
  if (!slot) return;
  ahead_ = take(*from, Begin::early, is_held_);
  if (ahead_.block) ahead_place_ = std::move(slot);
  ahead_block_ = *from;
  if (ahead_.use.run() && pace_.starved()) runs.ask(ahead_.use, *from + BlockRuns::kAhead);
}

std::optional<std::uint32_t> BlockSource::ahead_from(bool in_run) const {
  if (!in_run) return block_ + 1;
  if (!pace_.starved()) return {};
  const auto end = worker_.process.runs.blocks(*use_.run()).last;
  if (end < block_ + BlockRuns::kLead) return end + 1;
  return pace_.slow() ? std::optional(block_ + BlockRuns::kLead) : std::nullopt;
}

Pieces BlockSource::rest_of_held() {
  Pieces pieces;
  std::uint64_t at = 0;
  for (const auto& slice : held_->body.slices) {
    const auto before = at;
    at += slice.size;
    if (at <= given_) continue;
    const auto skipped = static_cast<std::uint32_t>(given_ - before);
    pieces.push_back({slice.block, skipped, slice.size - skipped});
    given_ = at;
  }
  return pieces;
}

// A run begins each block anew: what was given already is passed over.
Task<Outcome<Pieces>> BlockSource::rest_of_reader() {
  Pieces fresh;
  while (fresh.empty()) {
    const auto begun = steady_clock::now();
    auto pieces = co_await reader_->next();
    waited_ += steady_clock::now() - begun;
    if (!pieces || pieces->empty()) co_return pieces;
    for (auto& piece : *pieces) {
      const auto before = position_;
      position_ += piece.size;
      if (position_ <= given_) continue;
      const auto skipped = static_cast<std::uint32_t>(given_ - before);
      fresh.push_back({std::move(piece.block), piece.offset + skipped, piece.size - skipped});
      given_ = position_;
    }
  }
  co_return fresh;
}

bool BlockSource::may_try_again(const Failure& failure) {
  refused_ = use_.run() && use_.run()->refused();
  alone_ = alone_ || (use_.run() && use_.run()->declined());
  if (refused_ || !of_.may_fetch) return false;
  if (failure.what == Failure::What::abandoned) return ++ends_ <= kMostEnds;
  return (given_ > 0 || came_) && ++cuts_ == 1;
}

peers::PeerRef BlockSource::peer() const {
  return use_.run() && reader_ ? worker_.process.runs.peer(*use_.run()) : nullptr;
}

std::string BlockSource::detail() const {
  return use_.run() && reader_ ? worker_.process.runs.detail(*use_.run()) : std::string();
}

Task<Outcome<Pieces>> BlockSource::next() {
  while (given_ < size()) {
    if (!held_ && !reader_) {
      const auto acquired = co_await acquire();
      if (!acquired) co_return acquired.error();
    }
    look_ahead();
    if (held_) co_return rest_of_held();
    auto pieces = co_await rest_of_reader();
    if (pieces && !pieces->empty()) {
      came_ = true;
      co_return pieces;
    }
    const auto failure = pieces ? kOverload : pieces.error();
    reader_.reset();
    if (!may_try_again(failure)) co_return failure;
    // Still in use: another may go on with the same run.
  }
  co_return Pieces{};
}

}  // namespace proxy
