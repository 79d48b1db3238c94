// Supplies the blocks of an object to one client, one after the other: stored ones or fetched ones.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "digest/key.hpp"
#include "proxy/blocks/block_runs.hpp"
#include "proxy/blocks/fetch_access.hpp"
#include "proxy/blocks/given_check.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/tiers/object_blocks.hpp"

namespace proxy::blocks {

// One request for an object. The request outlives it.
struct ObjectRequest {
  const policy::Request& request;
  digest::Key key;  // of the URL
  cache::Ref<const cache::Entry> object;
  bool may_fetch = true;
  const crowd::ClientShare* client = nullptr;  // for TransferSlots; outlives it
  // The digest that names the object. If there is one, all blocks are wanted in their order, and
  // GivenCheck verifies what is given.
  std::optional<mirrors::ContentName> name = {};
};

// How fast one client gets its blocks from runs. Pure.
class Pace {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // A block that takes longer arrives at less than 8 MiB/s: then a second connection is worth its
  // cost.
  static constexpr std::chrono::milliseconds kSlow{120};

  // Records that a block was read in `elapsed`, of which `waited` was spent waiting for its bytes.
  void record(Duration elapsed, Duration waited) {
    starved_ = waited > elapsed / 2;
    slow_in_a_row_ = starved_ && elapsed >= kSlow ? slow_in_a_row_ + 1 : 0;
  }

  // The client takes bytes faster than they arrive.
  [[nodiscard]] bool starved() const { return starved_; }
  // The last two blocks were slow. One slow block does not count, because a connection begins
  // slowly.
  [[nodiscard]] bool slow() const { return slow_in_a_row_ >= 2; }

 private:
  bool starved_ = false;
  int slow_in_a_row_ = 0;
};

// Joins the run that supplies a block, or begins a run and starts its fetch. Belongs to one
// coroutine; the access and the request outlive it.
//
// An answer has at most one early run, which is begun before its first block is needed, in one of
// three cases:
// - The block in hand is stored, or the last of its run. The early run begins with the next block.
// - The client takes bytes faster than they arrive, and the run in use ends within kLead blocks.
//   The early run begins after the last block of the run in use, which supplies its last blocks
//   meanwhile.
// - The client takes bytes faster than they arrive, and the run in use is long and slow. The early
//   run takes over the blocks from kLead blocks on, over a second connection.
//
// Measured (tests/bench/blocks_bench.cpp; 48 MiB, 20 ms, 4 MiB/s for each connection): the third
// case fetches a cold object in 6.6 s instead of 12.0 s, the second case the missing half of an
// object in 4.1 s instead of 6.1 s. Without a limited rate neither makes a difference.
class RunStarter {
 public:
  RunStarter(FetchAccess& access, const ObjectRequest& of);

  // Whether this request may begin a run: it may fetch, the object's length is known, and the
  // origin can be asked for exactly this version.
  [[nodiscard]] bool may_begin() const;
  [[nodiscard]] bool is_stored(std::uint32_t block) const;
  // Takes the block as BlockRuns::take() does, but begins a run only if may_begin().
  BlockRuns::Taken take(std::uint32_t block, std::uint32_t last, BlockRuns::Wanted::Begin begin,
                        const BlockRuns::IsStored& is_stored) const;

  // The first block of the early run, with its slot.
  struct Early {
    BlockRuns::Taken run;
    TransferSlots::Slot slot;
  };
  // The client needs `block` now, and then all blocks up to `last`. If the early run begins with
  // `block`, hands it to the caller. If the early run has become useless, drops it.
  std::optional<Early> go_to(std::uint32_t block, std::uint32_t last);
  // A block was read from a run in `elapsed`, of which `waited` was spent waiting.
  void record(Pace::Duration elapsed, Pace::Duration waited) { pace_.record(elapsed, waited); }
  // Begins an early run if one of the cases holds and there is a spare slot. Only the first call
  // after go_to() does anything. `in_use`: the run that the block is read from, or empty.
  void look_ahead(const BlockRuns::Use& in_use);
  // Ends the early run and frees its slot.
  void drop_early() { early_ = {}; }
  // The slot of the early run; empty while there is none.
  TransferSlots::Slot& early_slot() { return early_.slot; }
  // Call this when the origin does not grant a second connection: begins no early run any more.
  void give_up() { alone_ = true; }

 private:
  [[nodiscard]] std::optional<std::uint32_t> first_beside(const BlockRun& in_use) const;

  FetchAccess& access_;
  const ObjectRequest& of_;
  // Shared by all runs of the answer, so that together they wait for the disk no longer than one.
  const std::shared_ptr<tiers::DiskPatience> patience_;
  Early early_;
  std::uint32_t first_ = 0;  // the early run's first block
  std::uint32_t block_ = 0;  // the block that the client needs now
  std::uint32_t last_ = 0;
  bool looked_ = false;  // look_ahead() was called for block_
  bool alone_ = false;   // give_up() was called
  Pace pace_;
};

// A stored block is read from memory or disk. A block that a run is fetching is read as it arrives.
// Any other block is fetched, with those after it, if the request may fetch. A block that is cut or
// damaged on the way is fetched once more. The source has a slot of BlockRuns::slots() for the
// block in hand, waits for its turn to get one, and has none between two blocks. Belongs to one
// coroutine.
class BlockSource {
 public:
  BlockSource(FetchAccess& access, ObjectRequest of);
  BlockSource(const BlockSource&) = delete;
  BlockSource& operator=(const BlockSource&) = delete;

  // Goes to `block`. The blocks after it, up to `last`, are wanted next.
  void go_to(std::uint32_t block, std::uint32_t last);
  // Whether the block in hand has a source: a run that supplies it, or its stored bytes, once
  // next() has read them. If not, the caller may send a stored block without next(), if
  // trusts_stored().
  [[nodiscard]] bool has_source() const { return in_hand_.stored || in_hand_.run; }
  [[nodiscard]] bool trusts_stored() const { return !check_ || check_->trusts_stored(); }
  [[nodiscard]] std::uint32_t block() const { return block_; }  // the one in hand
  // Asks early for missing blocks behind the block in hand, as next() does. For a caller that sends
  // the block without next().
  void look_ahead() { starter_.look_ahead(use_); }
  // The next bytes of the block; none at its end. If the block cannot be asked for, returns that
  // failure, or `overload` if no slot came free in time. If the bytes are the last ones, and all of
  // them do not have the digest (ObjectRequest::name), returns a failure in their place.
  net::Task<upstream::Outcome<fill::Pieces>> next();

  // Whether the last bytes were stored already.
  [[nodiscard]] bool from_stored() const { return in_hand_.stored != nullptr; }
  // Whether any block so far was read from the disk.
  [[nodiscard]] bool from_disk() const { return from_disk_; }
  // The slot for the block in hand; empty while there is none.
  TransferSlots::Slot& slot() { return slot_; }
  // The slot for a later block that is asked for early; empty while there is none.
  TransferSlots::Slot& early_slot() { return starter_.early_slot(); }
  // The sibling that supplies the block in hand. Null: the origin supplies it, or it is stored.
  [[nodiscard]] peers::PeerRef peer() const;
  // The questions to the neighbours that were asked for the block.
  [[nodiscard]] observe::Inquiries inquiries() const;
  // Whether the failure is that the origin has another version of the object, or refused to send
  // this one. Call this after a failure.
  [[nodiscard]] bool refused() const { return tries_.refused; }

 private:
  // The block whose bytes the reader is getting. A source of its bytes is a stored entry or a run,
  // and begins at the first byte of the block. The reader gets each byte once, even if the source
  // changes within the block. The new source must then repeat the bytes that the reader got from
  // the old one, since only the bytes of the new source are verified and stored.
  struct InHand {
    [[nodiscard]] bool is_over() const { return given == size; }

    std::uint64_t size = 0;
    std::uint64_t given = 0;  // bytes given so far
    cache::Ref<const cache::Entry> stored = {};
    std::unique_ptr<fill::FillReader> run = {};
    std::uint64_t position = 0;  // of the source in the block
    fill::Pieces pieces = {};    // the given bytes, for comparison with those of another source
    machine::Clock::SteadyTime begun = {};
    std::chrono::nanoseconds waited = {};  // for the run
  };
  // The failures of the block in hand so far. They bound how often it is asked for again.
  struct Tries {
    int cuts = 0;
    int ends = 0;           // runs that ended because their other readers left
    bool supplied = false;  // the run in use has supplied some bytes
    bool refused = false;
  };

  net::Task<upstream::Outcome<void>> acquire();
  net::Task<bool> have_slot(TransferSlots::For what);
  net::Task<void> read_stored();
  bool use(BlockRuns::Taken taken);
  bool may_try_again(const upstream::Failure& failure);
  [[nodiscard]] bool add_fresh(fill::Piece piece, fill::Pieces& fresh);
  net::Task<upstream::Outcome<fill::Pieces>> read();
  net::Task<bool> may_give_block();

  FetchAccess& access_;
  const ObjectRequest of_;
  RunStarter starter_;
  InHand in_hand_;
  std::uint32_t block_ = 0;
  std::uint32_t last_ = 0;
  TransferSlots::Slot slot_;
  BlockRuns::Use use_;
  Tries tries_;
  bool from_disk_ = false;
  std::optional<GivenCheck> check_;  // nothing: no digest names what is given
};

}  // namespace proxy::blocks
