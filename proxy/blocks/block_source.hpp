// Supplies the blocks of an object to one client, one after the other: stored ones or fetched ones.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "proxy/blocks/block_runs.hpp"
#include "proxy/blocks/fetch_access.hpp"
#include "proxy/blocks/run_starter.hpp"
#include "proxy/machine/clock.hpp"

namespace proxy {

// One block on its way to one client.
// Gives each byte of a block once, even if the source changes within the block. A source is a
// stored entry or a run, and begins at the first byte of the block. Belongs to one coroutine.
class BlockReading {
 public:
  explicit BlockReading(const machine::Clock& clock) : clock_(clock) {}

  // Goes to another block, of `size` bytes, which has no source yet.
  void begin(std::uint64_t size);
  void read_from(cache::Ref<const cache::Entry> stored);
  void read_from(std::unique_ptr<FillReader> run);
  void drop_run() { run_.reset(); }

  [[nodiscard]] bool has_source() const { return stored_ || run_; }
  [[nodiscard]] bool from_stored() const { return stored_ != nullptr; }
  [[nodiscard]] bool from_run() const { return run_ != nullptr; }
  [[nodiscard]] bool is_over() const { return given_ == size_; }
  [[nodiscard]] bool has_begun() const { return given_ > 0; }
  // The time since begin(), and how much of it was spent waiting for a run.
  [[nodiscard]] std::chrono::nanoseconds elapsed() const { return clock_.steady() - begun_; }
  [[nodiscard]] std::chrono::nanoseconds waited() const { return waited_; }

  // The next bytes from the source; only while has_source(). No bytes: the run has ended.
  net::Task<Outcome<Pieces>> next();

 private:
  void add_fresh(Piece piece, Pieces& fresh);

  const machine::Clock& clock_;
  std::uint64_t size_ = 0;
  std::uint64_t given_ = 0;  // bytes given so far
  cache::Ref<const cache::Entry> stored_;
  std::unique_ptr<FillReader> run_;
  std::uint64_t position_ = 0;  // of the source in the block
  machine::Clock::SteadyTime begun_{};
  std::chrono::nanoseconds waited_{};
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
  // Whether a run supplies the block already. The block then need not be read or asked for.
  [[nodiscard]] bool has_source() const { return reading_.has_source(); }
  // Asks early for missing blocks behind the block in hand, as next() does. For a caller that sends
  // the block without next().
  void look_ahead() { starter_.look_ahead(use_); }
  // The next bytes of the block; none at its end. If the block cannot be asked for, returns that
  // failure, or `overload` if no slot came free in time.
  net::Task<Outcome<Pieces>> next();

  // Whether the last bytes were stored already.
  [[nodiscard]] bool from_stored() const { return reading_.from_stored(); }
  // Whether any block so far was read from the disk.
  [[nodiscard]] bool from_disk() const { return from_disk_; }
  // The slot for the block in hand; empty while there is none.
  TransferSlots::Slot& slot() { return slot_; }
  // The slot for a later block that is asked for early; empty while there is none.
  TransferSlots::Slot& early_slot() { return starter_.early_slot(); }
  // The sibling that supplies the block in hand. Null: the origin supplies it, or it is stored.
  [[nodiscard]] peers::PeerRef peer() const;
  // The questions to the neighbours that were asked for the block.
  [[nodiscard]] Inquiries inquiries() const;
  // After a failure: the origin has another version of the object, or refused to send this one.
  [[nodiscard]] bool refused() const { return tries_.refused; }

 private:
  // The failures of the block in hand so far. They bound how often it is asked for again.
  struct Tries {
    int cuts = 0;
    int ends = 0;           // runs that ended because their other readers left
    bool supplied = false;  // the run in use has supplied some bytes
    bool refused = false;
  };

  net::Task<Outcome<void>> acquire();
  net::Task<bool> have_slot(TransferSlots::For what);
  net::Task<void> read_stored();
  bool use(BlockRuns::Taken taken);
  bool may_try_again(const Failure& failure);

  FetchAccess& access_;
  const ObjectRequest of_;
  RunStarter starter_;
  BlockReading reading_;
  std::uint32_t block_ = 0;
  std::uint32_t last_ = 0;
  TransferSlots::Slot slot_;
  BlockRuns::Use use_;
  Tries tries_;
  bool from_disk_ = false;
};

}  // namespace proxy
