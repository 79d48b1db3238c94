// The blocks of an object for one client, one after the other, each from wherever it is.
#pragma once

#include <cstdint>
#include <memory>

#include "proxy/blocks/block_reading.hpp"
#include "proxy/blocks/early_run.hpp"
#include "proxy/blocks/run_starter.hpp"
#include "proxy/fill/block_runs.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

// A stored block is read from memory or disk, a block under way as it arrives. Any other block is
// fetched, with those after it, if the request may fetch. A block that is cut or damaged on the way
// is fetched once more. The source holds a slot of BlockRuns::slots() for the block in hand, waits
// for its turn to get one, and has none between two blocks. Belongs to one coroutine.
class BlockSource {
 public:
  BlockSource(Worker& worker, ObjectRequest of);
  BlockSource(const BlockSource&) = delete;
  BlockSource& operator=(const BlockSource&) = delete;

  // Goes to `block`, after which all blocks until `last` are wanted.
  void go_to(std::uint32_t block, std::uint32_t last);
  // The next bytes of the block; none at its end. A failure before its first byte is the one of
  // asking for it, or `overload` if no slot came free in time.
  net::Task<Outcome<Pieces>> next();

  // Whether the bytes given last were stored before.
  [[nodiscard]] bool from_stored() const { return reading_.from_stored(); }
  // Whether any block so far was read from the disk.
  [[nodiscard]] bool from_disk() const { return from_disk_; }
  // The slot for the block in hand; empty while there is none.
  TransferSlots::Slot& slot() { return slot_; }
  // The sibling that supplies the block in hand; null: the origin, or it is stored.
  [[nodiscard]] peers::PeerRef peer() const;
  // What neighbours answered that were asked for the block, as words for Cache-Status (`detail`).
  [[nodiscard]] std::string detail() const;
  // After a failure: the origin has another version of the object, or refused to send this one.
  [[nodiscard]] bool refused() const { return tries_.refused; }

 private:
  // What the failures so far leave to try for the block in hand.
  struct Tries {
    int cuts = 0;
    int ends = 0;           // of runs, as their other readers left
    bool supplied = false;  // the run in use has given something
    bool refused = false;
  };

  net::Task<Outcome<void>> acquire();
  net::Task<bool> have_slot(TransferSlots::For what);
  net::Task<void> read_stored();
  bool use(BlockRuns::Taken taken);
  bool may_try_again(const Failure& failure);

  Worker& worker_;
  const ObjectRequest of_;
  const RunStarter starter_;
  EarlyRun early_;
  BlockReading reading_;
  std::uint32_t block_ = 0;
  std::uint32_t last_ = 0;
  TransferSlots::Slot slot_;
  BlockRuns::Use use_;
  Tries tries_;
  bool from_disk_ = false;
};

}  // namespace proxy
