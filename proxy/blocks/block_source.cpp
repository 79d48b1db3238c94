#include "proxy/blocks/block_source.hpp"

#include <utility>

#include "proxy/blocks/fetch_access.hpp"
#include "proxy/tiers/object_blocks.hpp"

namespace proxy {

using net::Task;
using Begin = BlockRuns::Wanted::Begin;

namespace {

// How often one block may be asked for again because its run ended when other readers left.
constexpr int kMostEnds = 3;
constexpr int kMostLooks = 4;
constexpr Failure kNotStored{Failure::Where::us, Failure::What::abandoned, {}};
constexpr Failure kOverload{Failure::Where::us, Failure::What::overload, {}};

}  // namespace

void BlockReading::begin(std::uint64_t size) {
  size_ = size;
  given_ = 0;
  stored_.reset();
  run_.reset();
  begun_ = clock_.steady();
  waited_ = {};
}

void BlockReading::read_from(cache::Ref<const cache::Entry> stored) {
  stored_ = std::move(stored);
  position_ = 0;
}

void BlockReading::read_from(std::unique_ptr<FillReader> run) {
  run_ = std::move(run);
  position_ = 0;
}

// Leaves out the bytes that the source before has supplied.
void BlockReading::add_fresh(Piece piece, Pieces& fresh) {
  const auto before = position_;
  position_ += piece.size;
  if (position_ <= given_) return;
  const auto skipped = static_cast<std::uint32_t>(given_ - before);
  fresh.push_back({std::move(piece.block), piece.offset + skipped, piece.size - skipped});
  given_ = position_;
}

Task<Outcome<Pieces>> BlockReading::next() {
  Pieces fresh;
  if (stored_) {
    for (const auto& slice : stored_->body.slices) add_fresh({slice.block, 0, slice.size}, fresh);
    co_return fresh;
  }
  while (fresh.empty()) {
    const auto begun = clock_.steady();
    auto pieces = co_await run_->next();
    waited_ += clock_.steady() - begun;
    if (!pieces || pieces->empty()) co_return pieces;
    for (auto& piece : *pieces) add_fresh(std::move(piece), fresh);
  }
  co_return fresh;
}

BlockSource::BlockSource(FetchAccess& access, ObjectRequest of)
    : access_(access), of_(std::move(of)), starter_(access_, of_), reading_(access_.clock()) {}

void BlockSource::go_to(std::uint32_t block, std::uint32_t last) {
  if (reading_.from_run() && reading_.is_over()) {
    starter_.record(reading_.elapsed(), reading_.waited());
  }
  block_ = block;
  last_ = last;
  reading_.begin(cache::bytes_of_block(block_, of_.object->body.size).size());
  tries_.cuts = tries_.ends = 0;
  slot_.release();
  auto early = starter_.go_to(block, last);
  if (!early) return;
  slot_ = std::move(early->slot);
  use(std::move(early->run));
}

// Returns whether the block is read from a run now.
bool BlockSource::use(BlockRuns::Taken taken) {
  if (!taken.block) return false;
  if (taken.use.run() != use_.run()) tries_.supplied = false;
  use_ = std::move(taken.use);
  reading_.read_from(std::move(taken.block));
  return true;
}

// Gets a slot, after a wait for its turn if need be. Returns whether the source has one.
Task<bool> BlockSource::have_slot(TransferSlots::For what) {
  if (slot_.serves(what)) co_return true;
  auto& slots = access_.runs.slots();
  slot_.release();
  slot_ = slots.try_take(what, of_.client);
  if (!slot_) {
    // A reader that waits for a slot must have none, or all readers could wait for each other.
    starter_.drop_early();
    slot_ = co_await slots.take(what, access_.executor(), TransferSlots::kPatience, of_.client);
  }
  co_return static_cast<bool>(slot_);
}

Task<void> BlockSource::read_stored() {
  auto found = co_await read_block(access_.cached(), of_.key, of_.object, block_);
  from_disk_ = from_disk_ || found.from_disk;
  if (found.block) reading_.read_from(std::move(found.block));
}

Task<Outcome<void>> BlockSource::acquire() {
  // Asked before the look into the store: the writer may go further ahead from here on.
  if (use_.run() && use_.run()->ask(block_) != BlockRun::Asked::yes) use_ = {};
  // A block may be evicted, or stored by another run, between the look and the use.
  for (int looks = 0; looks < kMostLooks; ++looks) {
    const bool there = starter_.is_stored(block_);
    if (!there && !of_.may_fetch) co_return kNotStored;
    const auto what = there ? TransferSlots::For::stored : TransferSlots::For::fetched;
    bool has_slot = co_await have_slot(what);
    if (!has_slot) co_return kOverload;
    if (there) co_await read_stored();
    if (reading_.has_source()) co_return boost::system::in_place_value;
    if (!of_.may_fetch) co_return kNotStored;
    // The block is stored but cannot be read now: the disk is busy, or the block is being purged.
    const bool unreadable = there && looks > 0;
    if (unreadable) {
      has_slot = co_await have_slot(TransferSlots::For::fetched);
      if (!has_slot) co_return kOverload;
    }
    const BlockRuns::IsStored is_stored = [&](std::uint32_t block) {
      return starter_.is_stored(block) && !(unreadable && block == block_);
    };
    auto taken = starter_.take(block_, last_, Begin::needed, is_stored);
    if (use(std::move(taken))) co_return boost::system::in_place_value;
    if (!starter_.may_begin() && !starter_.is_stored(block_)) co_return kNotStored;
  }
  co_return kOverload;
}

bool BlockSource::may_try_again(const Failure& failure) {
  const auto& run = use_.run();
  tries_.refused = run && run->refused();
  if (run && run->declined()) starter_.give_up();
  if (tries_.refused || !of_.may_fetch) return false;
  if (failure.what == Failure::What::abandoned) return ++tries_.ends <= kMostEnds;
  return (reading_.has_begun() || tries_.supplied) && ++tries_.cuts == 1;
}

peers::PeerRef BlockSource::peer() const {
  const bool from_run = use_.run() && reading_.from_run();
  return from_run ? use_.run()->peer() : nullptr;
}

Inquiries BlockSource::inquiries() const {
  const bool from_run = use_.run() && reading_.from_run();
  return from_run ? use_.run()->inquiries() : Inquiries();
}

Task<Outcome<Pieces>> BlockSource::next() {
  while (!reading_.is_over()) {
    if (!reading_.has_source()) {
      const auto acquired = co_await acquire();
      if (!acquired) co_return acquired.error();
    }
    starter_.look_ahead(use_);
    auto pieces = co_await reading_.next();
    if (pieces && !pieces->empty()) {
      tries_.supplied = tries_.supplied || reading_.from_run();
      co_return pieces;
    }
    const auto failure = pieces ? kOverload : pieces.error();
    reading_.drop_run();
    if (!may_try_again(failure)) co_return failure;
    // The run stays in use: another source may supply its rest.
  }
  co_return Pieces{};
}

}  // namespace proxy
