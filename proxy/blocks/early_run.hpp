// A run that is begun before its first block is needed.
#pragma once

#include <optional>

#include "proxy/blocks/block_runs.hpp"
#include "proxy/blocks/pace.hpp"
#include "proxy/blocks/run_starter.hpp"

namespace proxy {

// An answer has at most one early run. It is begun in one of three cases:
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
//
// Belongs to one coroutine.
class EarlyRun {
 public:
  // `client`: see TransferSlots::try_take().
  EarlyRun(BlockRuns& runs, const RunStarter& starter, const ClientShare* client)
      : runs_(runs), starter_(starter), client_(client) {}

  // The first block of the early run, with its slot.
  struct Given {
    BlockRuns::Taken run;
    TransferSlots::Slot slot;
  };
  // The client needs `block` now, and then all blocks up to `last`. If the early run begins with
  // `block`, hands it to the caller. If the early run has become useless, drops it.
  std::optional<Given> go_to(std::uint32_t block, std::uint32_t last);
  // Notes that a block was read from a run in `elapsed`, of which `waited` was spent waiting.
  void note(Pace::Duration elapsed, Pace::Duration waited) { pace_.note(elapsed, waited); }
  // Begins an early run if one of the cases holds and there is a spare slot. Only the first call
  // after go_to() does anything. `in_use`: the run that the block is read from, or empty.
  void look_ahead(const BlockRuns::Use& in_use);
  // Ends the early run and frees its slot.
  void drop();
  // Empty while there is no early run.
  TransferSlots::Slot& slot() { return slot_; }
  // Call this when the origin does not grant a second connection: begins no early run any more.
  void give_up() { alone_ = true; }

 private:
  [[nodiscard]] std::optional<std::uint32_t> begin_at(const BlockRuns::Use& in_use,
                                                      bool goes_on) const;

  BlockRuns& runs_;
  const RunStarter& starter_;
  const ClientShare* const client_;
  BlockRuns::Taken taken_;
  TransferSlots::Slot slot_;
  std::uint32_t first_ = 0;  // the early run's first block
  std::uint32_t block_ = 0;  // the block that the client needs now
  std::uint32_t last_ = 0;
  bool looked_ = false;  // look_ahead() was called for block_
  bool alone_ = false;   // give_up() was called
  Pace pace_;
};

}  // namespace proxy
