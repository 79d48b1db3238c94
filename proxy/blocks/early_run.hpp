// The run that is begun before its first block is needed.
#pragma once

#include <optional>

#include "proxy/blocks/pace.hpp"
#include "proxy/blocks/run_starter.hpp"
#include "proxy/fill/block_runs.hpp"

namespace proxy {

// At most one early run of an answer, for one of three reasons:
// - the block in use is the last of its run, or stored: the next answer comes without a wait;
// - the client takes bytes faster than they come, and the run in use is near its end: the early run
//   begins while that one still brings its last blocks;
// - the same, a connection is slow, and the run in use is long: the early run takes over what the
//   other would come to later, over a second connection.
// On a path of 20 ms that limits a connection to 4 MiB/s, that brings a cold object of 48 MiB in
// 6.6 s instead of 12, and the missing half of one in 4.1 s instead of 6.1; without a limit it
// makes no difference (tests/bench/blocks_bench.cpp). Belongs to one coroutine.
class EarlyRun {
 public:
  EarlyRun(BlockRuns& runs, const RunStarter& starter) : runs_(runs), starter_(starter) {}

  // What the early run gives, with the slot that its block takes.
  struct Given {
    BlockRuns::Taken run;
    TransferSlots::Slot slot;
  };
  // The client needs `block` now, and then all until `last`. If the early run begins with that
  // block, it is given to the caller; if it is of no use any more, it is dropped.
  std::optional<Given> go_to(std::uint32_t block, std::uint32_t last);
  // A block was read from a run: how long that took, and how much of it was waiting.
  void note(Pace::Duration elapsed, Pace::Duration waited) { pace_.note(elapsed, waited); }
  // Once for each block: begins an early run if that pays, and a slot is to spare. `in_use`: the
  // run that the block is read from; none if it is stored.
  void look_ahead(const BlockRuns::Use& in_use);
  // Its slot must not keep one from others.
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
