// One client's way through an object: block after block, from where each is to be had.
#pragma once

#include <memory>
#include <optional>

#include "digest/key.hpp"
#include "proxy/blocks/pace.hpp"
#include "proxy/fill/block_runs.hpp"
#include "proxy/request/request.hpp"
#include "proxy/tiers/tiers.hpp"

namespace proxy {

// It has a place in BlockRuns::slots() for the block that it is at, for which it waits its turn,
// and none between two blocks. A block that is held is read as it is; one that is under way as it
// comes; any other is asked for, with those after it, if it may be. What is cut or turns out
// damaged on the way is asked for once more. Belongs to one coroutine.
class BlockSource {
 public:
  struct Of {
    const Request& request;
    digest::Key key;  // of the URL
    std::shared_ptr<const cache::Entry> object;
    bool may_fetch = true;
  };
  BlockSource(Worker& worker, Of of);

  // Goes to that block; `last`: how far it is wanted from there on.
  void go_to(std::uint32_t block, std::uint32_t last);
  // The next bytes of it; none at its end. Before anything was got of it, a failure is the one of
  // asking for it, or `overload` where its turn did not come.
  net::Task<Outcome<Pieces>> next();

  // Whether what came last was held.
  [[nodiscard]] bool from_held() const { return held_ != nullptr; }
  // Whether any of it was read from the disk.
  [[nodiscard]] bool from_disk() const { return from_disk_; }
  // Its place, if it has one now.
  TransferSlots::Slot& slot() { return slot_; }
  // Who else than the origin brings what is not held; null: nobody.
  [[nodiscard]] peers::PeerRef peer() const;
  // Words for Cache-Status, `detail`: what came of asking neighbours for the block.
  [[nodiscard]] std::string detail() const;
  // The failure: the origin has another version, or refuses: it may have another answer.
  [[nodiscard]] bool refused() const { return refused_; }

 private:
  net::Task<Outcome<void>> acquire();
  net::Task<bool> have_slot(TransferSlots::For what);
  net::Task<void> look_among_held();
  void drop_ahead();
  bool use(BlockRuns::Taken taken);
  [[nodiscard]] std::uint64_t size() const;  // of the block
  Pieces rest_of_held();
  net::Task<Outcome<Pieces>> rest_of_reader();
  void look_ahead();
  [[nodiscard]] std::optional<std::uint32_t> ahead_from(bool in_run) const;
  bool may_try_again(const Failure& failure);
  BlockRuns::Taken take(std::uint32_t block, BlockRuns::Wanted::Begin begin,
                        const BlockRuns::IsStored& held);

  Worker& worker_;
  const Of of_;
  const BlockRuns::IsStored is_held_;
  const bool may_ask_;  // for what is not under way

  std::uint32_t block_ = 0;
  std::uint32_t last_ = 0;
  std::uint64_t given_ = 0;   // bytes of the block
  TransferSlots::Slot slot_;  // until what it is for, below, is let go
  std::shared_ptr<const cache::Entry> held_;
  BlockRuns::Use use_;
  std::unique_ptr<FillReader> reader_;
  std::uint64_t position_ = 0;  // of the reader
  BlockRuns::Taken ahead_;      // another run, begun before it is needed
  TransferSlots::Slot ahead_place_;
  std::uint32_t ahead_block_ = 0;
  bool looked_ahead_ = false;
  bool alone_ = false;  // the origin does not grant a second one
  const std::shared_ptr<DiskPatience> patience_ = std::make_shared<DiskPatience>();
  Pace pace_;
  std::chrono::steady_clock::time_point begun_{};  // with the block
  Pace::Duration waited_{};                        // for its bytes
  int cuts_ = 0;                                   // of this block
  int ends_ = 0;
  bool came_ = false;  // something, by the run in use
  bool refused_ = false;
  bool from_disk_ = false;
};

}  // namespace proxy
