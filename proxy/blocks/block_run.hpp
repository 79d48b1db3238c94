// A run: consecutive blocks of an object that are being fetched, by one response or several.
#pragma once

#include <atomic>
#include <cassert>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "peers/peer.hpp"
#include "peers/threads/mutex.hpp"
#include "proxy/cache/object.hpp"
#include "proxy/fill/fill.hpp"

namespace proxy {

// How far a run goes, and what ends it.
struct RunPlan {
  cache::BlockRange blocks;
  // The response is the whole body, perhaps because the origin knows no ranges. The run continues
  // past blocks that are stored, and readers wait for each of its blocks, however far ahead.
  bool through = false;
  // Whether the run should continue even without readers. Called without a lock, on any thread.
  std::function<bool()> also_wanted = {};
  // The run was begun before it was needed. A range that the origin refuses now it may grant later.
  bool early = false;
};

// Made and joined by BlockRuns. One coroutine, the writer, supplies the blocks in order; any number
// of readers take them. All calls may be made on any thread.
class BlockRun {
 public:
  // `guard`: guards this run and all others of the object. It outlives the run.
  BlockRun(cache::Ref<const cache::Entry> of, RunPlan plan, net::Executor writer,
           threads::Mutex& guard);

  const cache::Ref<const cache::Entry> object;

  // The origin has another version, or sends no more of this one. A reader must start again without
  // the stored object.
  [[nodiscard]] bool refused() const { return denied_ == Denied::refused; }
  void note_refused() { denied_ = Denied::refused; }
  // An early run that the origin did not grant its range: see BlockRuns::decline().
  [[nodiscard]] bool declined() const { return denied_ == Denied::declined; }
  // Needs no lock: a run never changes this part of its plan.
  [[nodiscard]] bool early() const NO_THREAD_SAFETY_ANALYSIS { return plan_.early; }
  [[nodiscard]] cache::BlockRange blocks() const;

  // For readers that have a BlockRuns::Use of the run.
  enum class Asked : std::uint8_t {
    yes,
    not_supplied,  // the block is past the run's last one, or the run has ended
  };
  // A reader goes on to `block`, so the writer may go further ahead.
  Asked ask(std::uint32_t block);
  // The sibling that supplies the blocks; null: the origin, or nobody yet.
  [[nodiscard]] peers::PeerRef peer() const;
  // The questions to the neighbours that were asked for the blocks.
  [[nodiscard]] Inquiries inquiries() const;

  // For the writer.
  // Whether the run should continue: it has a reader, or RunPlan::also_wanted says so.
  [[nodiscard]] bool wanted() const;
  // `unwanted` is called on the writer's thread each time that the run may have become unwanted.
  void on_unwanted(std::function<void()> unwanted);
  // Wakes the writer. Call it when the result of also_wanted may have changed.
  void look_whether_wanted();
  // The response turned out to have these blocks.
  void replan(cache::BlockRange blocks, bool through);
  // `peer` supplies the run's blocks for as long as its response lasts.
  void take_from(peers::PeerRef peer);
  // Sets inquiries().
  void tell(Inquiries inquiries);
  // Another source supplies the rest, from the first byte of the block under way. A reader of that
  // block has to ask for it again.
  void begin_again();
  struct Rest {
    cache::BlockRange blocks;
    std::uint64_t reached = 0;  // bytes of the first block that have arrived already
    bool through = false;
  };
  // The blocks that the run has yet to supply. If the last response had ranges, the next one may
  // continue at exactly the next byte.
  Rest rest();

 private:
  friend class BlockRuns;

  enum class Denied : std::uint8_t { no, refused, declined };
  struct Readers {
    std::size_t count = 0;
    std::uint32_t asked_for = 0;  // the furthest block that a reader has asked for
    // Called on the writer's thread when the last reader has left.
    std::function<void()> on_unwanted = {};
  };
  // An early run has taken over the blocks from the end of the plan up to `last`.
  struct Ceded {
    const BlockRun* to = nullptr;
    std::uint32_t last = 0;
  };

  // For BlockRuns, which holds the mutex of the object's shard: tells clang that `held` is the
  // run's guard.
  void expect_guard([[maybe_unused]] const threads::Mutex& held) const REQUIRES(held)
      ASSERT_CAPABILITY(guard_) {
    assert(&held == &guard_);
  }
  [[nodiscard]] bool supplies(std::uint32_t block) const REQUIRES(guard_);
  // The last block that the run supplies soon: see BlockRuns::kNear.
  [[nodiscard]] std::uint32_t last_near() const REQUIRES(guard_);
  [[nodiscard]] bool may_cede(std::uint32_t block) const REQUIRES(guard_);
  const std::shared_ptr<Fill>& fill_of(std::uint32_t block) REQUIRES(guard_);

  const net::Executor executor_;  // the writer's
  std::atomic<Denied> denied_ = Denied::no;
  Wakeup writer_;
  threads::Mutex& guard_;
  RunPlan plan_ GUARDED_BY(guard_);
  std::uint32_t next_ GUARDED_BY(guard_);  // the block under way, or the next to begin
  Readers readers_ GUARDED_BY(guard_);
  struct Neighbours {
    peers::PeerRef peer;
    Inquiries inquiries;
  };
  Neighbours neighbours_ GUARDED_BY(guard_);
  bool ended_ GUARDED_BY(guard_) = false;
  Ceded ceded_ GUARDED_BY(guard_);
  // By block: those under way, and those that readers wait for.
  std::map<std::uint32_t, std::shared_ptr<Fill>> fills_ GUARDED_BY(guard_);
};

}  // namespace proxy
