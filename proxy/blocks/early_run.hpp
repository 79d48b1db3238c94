// The run that is begun before its first block is needed.
#pragma once

#include <optional>

#include "proxy/blocks/pace.hpp"
#include "proxy/blocks/run_starter.hpp"
#include "proxy/fill/block_runs.hpp"

namespace proxy {

// An answer has at most one early run. It is begun in one of three cases:
// - The block in hand is stored, or the last of its run. The early run begins with the next block.
// - The client takes bytes faster than they arrive, and the run in use ends within kLead blocks.
//   The early run begins after the end of the other, which still supplies its last blocks.
// - The client takes bytes faster than they arrive, and the run in use is long and slow. The early
//   run takes over the blocks from kLead blocks on, over a second connection.
//
// Measured (tests/bench/blocks_bench.cpp; 48 MiB, 20 ms, 4 MiB/s for each connection): the third
// case fetches a cold object in 6.6 s instead of 12.0 s, the second the missing half of one in 4.1
// s instead of 6.1 s. Without a limited rate neither makes a difference.
//
// Belongs to one coroutine.
class EarlyRun {
 public:
  EarlyRun(BlockRuns& runs, const RunStarter& starter) : runs_(runs), starter_(starter) {}

  // What the early run gives, with the slot that its block takes.
  struct Given {
    BlockRuns::Taken run;
    TransferSlots::Slot slot;
  };
  // The client needs `block` now, and then all blocks until `last`. If the early run begins with
  // `block`, the caller gets it. If it has become useless, it is dropped.
  std::optional<Given> go_to(std::uint32_t block, std::uint32_t last);
  // A block was read from a run, in `elapsed`, of which `waited` was spent waiting for bytes.
  void note(Pace::Duration elapsed, Pace::Duration waited) { pace_.note(elapsed, waited); }
  // Begins an early run if one of the cases holds, and a slot is to spare. Does nothing but for the
  // first call after go_to(). `in_use`: the run that the block is read from; empty if none is.
  void look_ahead(const BlockRuns::Use& in_use);
  // Ends the early run and frees its slot.
  void drop();
  // The origin does not grant a second connection: there will be no early run any more.
  void give_up() { alone_ = true; }

 private:
  [[nodiscard]] std::optional<std::uint32_t> begin_at(const BlockRuns::Use& in_use,
                                                      bool goes_on) const;

  BlockRuns& runs_;
  const RunStarter& starter_;
  BlockRuns::Taken taken_;
  TransferSlots::Slot slot_;
  std::uint32_t first_ = 0;  // block of the early run
  std::uint32_t block_ = 0;  // that the client needs now
  std::uint32_t last_ = 0;
  bool looked_ = false;  // ahead of that block
  bool alone_ = false;
  Pace pace_;
};

}  // namespace proxy
