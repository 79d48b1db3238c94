#include "proxy/blocks/block_source.hpp"

#include <algorithm>
#include <utility>

#include "proxy/blocks/fetch_run.hpp"
#include "proxy/cache/partial.hpp"

namespace proxy::blocks {

using net::Task;
using Begin = BlockRuns::Wanted::Begin;

namespace {

// How often one block may be asked for again because its run ended when other readers left.
constexpr int kMostEnds = 3;
constexpr int kMostLooks = 4;
constexpr upstream::Failure kNotStored{
    upstream::Failure::Where::us, upstream::Failure::What::abandoned, {}};
constexpr upstream::Failure kOverload{
    upstream::Failure::Where::us, upstream::Failure::What::overload, {}};

upstream::Failure other_bytes() {
  return {upstream::Failure::Where::upstream, upstream::Failure::What::malformed,
          upstream::Errc::wrong_content};
}

// Whether the piece, which begins at `position`, has the bytes of `given` as far as these reach.
bool agrees(const fill::Pieces& given, const fill::Piece& piece, std::uint64_t position) {
  std::uint64_t begin = 0;
  for (const auto& before : given) {
    const auto from = std::max(begin, position);
    const auto to = std::min(begin + before.size, position + piece.size);
    const auto* const a = before.block->data() + before.offset;
    const auto* const b = piece.block->data() + piece.offset;
    if (from < to && !std::equal(a + (from - begin), a + (to - begin), b + (from - position)))
      return false;
    begin += before.size;
  }
  return true;
}

}  // namespace

RunStarter::RunStarter(FetchAccess& access, const ObjectRequest& of)
    : access_(access),
      of_(of),
      patience_(std::make_shared<tiers::DiskPatience>(access.clock().steady())) {}

bool RunStarter::may_begin() const {
  return of_.may_fetch && !of_.object->range() && !cache::strong_validator(*of_.object).empty();
}

bool RunStarter::is_stored(std::uint32_t block) const {
  return access_.cache().has_block(of_.key, *of_.object, block);
}

BlockRuns::Taken RunStarter::take(std::uint32_t block, std::uint32_t last,
                                  BlockRuns::Wanted::Begin begin,
                                  const BlockRuns::IsStored& is_stored) const {
  BlockRuns::Wanted wanted{of_.object, block, last, begin};
  if (!may_begin()) wanted.begin = BlockRuns::Wanted::Begin::no;
  auto taken = access_.runs.take(wanted, is_stored, access_.executor());
  if (taken.begun) {
    RunJob job{taken.use.run(), of_.key, std::make_unique<policy::OwnedRequest>(of_.request),
               patience_};
    start_run(access_, std::move(job));
  }
  return taken;
}

std::optional<RunStarter::Early> RunStarter::go_to(std::uint32_t block, std::uint32_t last) {
  block_ = block;
  last_ = last;
  looked_ = false;
  std::optional<Early> given;
  if (early_.run.block && first_ == block) given = std::exchange(early_, {});
  if (first_ <= block || first_ > last) drop_early();
  return given;
}

void RunStarter::look_ahead(const BlockRuns::Use& in_use) {
  if (std::exchange(looked_, true) || block_ >= last_ || !may_begin()) return;
  const bool goes_on = in_use.run() && in_use.run()->ask(block_ + 1) == BlockRun::Asked::yes;
  const auto& early = early_.run.use.run();
  if (early && early->declined()) {
    give_up();
    drop_early();
  }
  if (alone_ || early) return;
  const auto first = goes_on ? first_beside(*in_use.run()) : std::optional(block_ + 1);
  if (!first || *first > last_ || is_stored(*first)) return;
  auto slot = access_.runs.slots().spare(of_.client);
  if (!slot) return;
  const BlockRuns::IsStored stored = [this](std::uint32_t block) { return is_stored(block); };
  early_.run = take(*first, last_, BlockRuns::Wanted::Begin::early, stored);
  if (early_.run.block) early_.slot = std::move(slot);
  first_ = *first;
  // A starved client has read the block in hand long before the run would go on by itself.
  if (early && pace_.starved()) early->ask(*first + BlockRuns::kAhead);
}

// Where an early run begins beside the run in use, which supplies the next block; nothing: nowhere.
std::optional<std::uint32_t> RunStarter::first_beside(const BlockRun& in_use) const {
  if (!pace_.starved()) return {};
  const auto end = in_use.blocks().last;
  if (end < block_ + BlockRuns::kLead) return end + 1;
  return pace_.slow() ? std::optional(block_ + BlockRuns::kLead) : std::nullopt;
}

BlockSource::BlockSource(FetchAccess& access, ObjectRequest of)
    : access_(access), of_(std::move(of)), starter_(access_, of_) {
  if (of_.name) check_.emplace(access_, of_.key, of_.object, *of_.name);
}

void BlockSource::go_to(std::uint32_t block, std::uint32_t last) {
  const auto now = access_.clock().steady();
  if (in_hand_.run && in_hand_.is_over()) starter_.record(now - in_hand_.begun, in_hand_.waited);
  block_ = block;
  last_ = last;
  in_hand_ = {.size = cache::bytes_of_block(block_, of_.object->body.size).size(), .begun = now};
  // Each block has its own tries: a long object may meet many sources that end.
  tries_.cuts = tries_.ends = 0;
  slot_.release();
  if (check_) check_->begin(block);
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
  in_hand_.run = std::move(taken.block);
  in_hand_.position = 0;
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
  // A block that is read only because it has to be hashed is better left to its file.
  const auto then = trusts_stored() ? tiers::AfterRead::adopt : tiers::AfterRead::leave;
  auto found = co_await access_.cached().read_block(of_.key, of_.object, block_, then);
  from_disk_ = from_disk_ || found.from_disk;
  if (!found.block) co_return;
  in_hand_.stored = std::move(found.block);
  in_hand_.position = 0;
}

Task<upstream::Outcome<void>> BlockSource::acquire() {
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
    if (has_source()) co_return boost::system::in_place_value;
    if (!of_.may_fetch) co_return kNotStored;
    // The block is stored but cannot be read now: the disk is busy, or the block is being purged.
    const bool unreadable = there && looks > 0;
    if (unreadable) {
      has_slot = co_await have_slot(TransferSlots::For::fetched);
      if (!has_slot) co_return kOverload;
    }
    // A block that the store has and cannot read is fetched like one that it lacks.
    const BlockRuns::IsStored is_stored = [&](std::uint32_t block) {
      return starter_.is_stored(block) && !(unreadable && block == block_);
    };
    auto taken = starter_.take(block_, last_, Begin::needed, is_stored);
    if (use(std::move(taken))) co_return boost::system::in_place_value;
    if (!starter_.may_begin() && !starter_.is_stored(block_)) co_return kNotStored;
  }
  co_return kOverload;
}

bool BlockSource::may_try_again(const upstream::Failure& failure) {
  const auto& run = use_.run();
  tries_.refused = run && run->refused();
  if (run && run->declined()) starter_.give_up();
  // The origin has another version: more of this one would not fit. Nor would other bytes.
  const bool differs = failure.cause == upstream::Errc::wrong_content;
  if (tries_.refused || differs || !of_.may_fetch) return false;
  if (failure.what == upstream::Failure::What::abandoned) return ++tries_.ends <= kMostEnds;
  return (in_hand_.given > 0 || tries_.supplied) && ++tries_.cuts == 1;
}

peers::PeerRef BlockSource::peer() const {
  return use_.run() && in_hand_.run ? use_.run()->peer() : nullptr;
}

observe::Inquiries BlockSource::inquiries() const {
  return use_.run() && in_hand_.run ? use_.run()->inquiries() : observe::Inquiries();
}

// Leaves out the bytes that the source before has supplied. Returns false if they were others.
bool BlockSource::add_fresh(fill::Piece piece, fill::Pieces& fresh) {
  const auto before = in_hand_.position;
  if (before < in_hand_.given && !agrees(in_hand_.pieces, piece, before)) return false;
  in_hand_.position += piece.size;
  if (in_hand_.position <= in_hand_.given) return true;
  const auto skipped = static_cast<std::uint32_t>(in_hand_.given - before);
  fresh.push_back({std::move(piece.block), piece.offset + skipped, piece.size - skipped});
  in_hand_.pieces.push_back(fresh.back());
  in_hand_.given = in_hand_.position;
  return true;
}

// The next bytes from the source; only while has_source(). No bytes: the run has ended.
Task<upstream::Outcome<fill::Pieces>> BlockSource::read() {
  fill::Pieces fresh;
  if (const auto& stored = in_hand_.stored) {
    for (const auto& slice : stored->body.slices) {
      fill::Piece piece{slice.block, 0, slice.size};
      if (!add_fresh(std::move(piece), fresh)) co_return other_bytes();
    }
    co_return fresh;
  }
  while (fresh.empty()) {
    const auto begun = access_.clock().steady();
    auto pieces = co_await in_hand_.run->next();
    in_hand_.waited += access_.clock().steady() - begun;
    if (!pieces || pieces->empty()) co_return pieces;
    for (auto& piece : *pieces) {
      if (!add_fresh(std::move(piece), fresh)) co_return other_bytes();
    }
  }
  co_return fresh;
}

// Call this when the block has all its bytes, the last of which were not given yet.
Task<bool> BlockSource::may_give_block() {
  if (!check_) co_return true;
  GivenCheck::Given given{in_hand_.pieces, from_stored()};
  if (given.is_stored) {
    given.is_of_origin = in_hand_.stored->giver().tag == 0;
  } else if (const auto& run = use_.run()) {
    given.is_of_origin = !run->peer();
    given.link = run->hash.link_of(block_);
  }
  co_return co_await check_->add(std::move(given));
}

Task<upstream::Outcome<fill::Pieces>> BlockSource::next() {
  while (!in_hand_.is_over()) {
    if (!has_source()) {
      const auto acquired = co_await acquire();
      if (!acquired) co_return acquired.error();
    }
    starter_.look_ahead(use_);
    auto pieces = co_await read();
    if (pieces && !pieces->empty()) {
      tries_.supplied = tries_.supplied || in_hand_.run;
      if (!in_hand_.is_over()) co_return pieces;
      const bool may_give = co_await may_give_block();
      if (!may_give) co_return other_bytes();
      co_return pieces;
    }
    const auto failure = pieces ? kOverload : pieces.error();
    in_hand_.run.reset();
    if (!may_try_again(failure)) co_return failure;
    // The run stays in use: another source may supply its rest.
  }
  co_return fill::Pieces{};
}

}  // namespace proxy::blocks
