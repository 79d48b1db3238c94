// The runs under way, by object. Each block is fetched once, however many clients read it.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "peers/peer.hpp"
#include "proxy/blocks/body_hash.hpp"
#include "proxy/blocks/transfer_slots.hpp"
#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/cache/object.hpp"
#include "proxy/fill/fill.hpp"

namespace proxy::blocks {

// How a run ended.
struct RunEnd {
  enum class How : std::uint8_t {
    finished,  // the source supplied all blocks that were left
    unwanted,  // no reader was left
    declined,  // an early run did not get its range: see BlockRuns::decline()
    // The origin has another version, or sends no more of this one; or the object has another
    // digest than its name.
    refused,
    failed,  // see `why`
  };
  How how = How::failed;
  upstream::Failure why{upstream::Failure::Where::us, upstream::Failure::What::overload, {}};

  // The end after a response's body was read, as far as it came or was wanted.
  static RunEnd after(const upstream::Outcome<void>& body) {
    if (body) return {How::finished};
    if (body.error().what == upstream::Failure::What::abandoned) return {How::unwanted};
    if (body.error().cause == upstream::Errc::wrong_content) return {How::refused, body.error()};
    return {How::failed, body.error()};
  }

  [[nodiscard]] bool failed() const { return how == How::failed; }
  // The failure that a reader gets if the run did not supply its block. `abandoned`: the reader is
  // to ask for the block again.
  [[nodiscard]] upstream::Failure for_readers() const {
    const bool told = how == How::refused || how == How::failed;
    return told ? why
                : upstream::Failure{
                      upstream::Failure::Where::us, upstream::Failure::What::abandoned, {}};
  }
};

// How far a run goes, and what ends it.
struct RunPlan {
  cache::BlockRange blocks;
  // Whether the response is the whole body, perhaps because the origin knows no ranges. If so, the
  // run continues past stored blocks, and readers wait for each of its blocks, however far ahead.
  bool through = false;
  // Whether the run should continue even without readers. Called without a lock, on any thread.
  std::function<bool()> also_wanted = {};
  // The run was begun before a reader needed it. If the origin refuses its range, a later run may
  // ask for the range again.
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
  RunHash hash;  // of what has arrived, if a digest names the object

  // Whether the origin has another version, or sends no more of this one. If so, a reader must
  // start again without the stored object.
  [[nodiscard]] bool refused() const { return denied_ == Denied::refused; }
  void record_refusal() { denied_ = Denied::refused; }
  // An early run that the origin did not grant its range: see BlockRuns::decline().
  [[nodiscard]] bool declined() const { return denied_ == Denied::declined; }
  // Needs no lock: a run never changes this part of its plan.
  [[nodiscard]] bool early() const NO_THREAD_SAFETY_ANALYSIS { return plan_.early; }
  [[nodiscard]] cache::BlockRange blocks() const;

  // Readers that have a BlockRuns::Use of the run call the functions below.
  enum class Asked : std::uint8_t {
    yes,
    not_supplied,  // the block is past the run's last one, or the run has ended
  };
  // Call this when a reader has reached `block`: the writer may then read further ahead.
  Asked ask(std::uint32_t block);
  // The sibling that supplies the blocks; null: the origin, or nobody yet.
  [[nodiscard]] peers::PeerRef peer() const;
  // The questions to the neighbours that were asked for the blocks.
  [[nodiscard]] observe::Inquiries inquiries() const;

  // Whether the object has had another run since this one began. The writer of the run asks this.
  [[nodiscard]] bool accompanied() const {
    const threads::MutexLock lock(guard_);
    return ceded_.accompanied;
  }
  // Whether the run should continue: it has a reader, or RunPlan::also_wanted says so. The writer
  // of the run asks this.
  [[nodiscard]] bool wanted() const;
  // `unwanted` is called on the writer's thread each time that the run may have become unwanted.
  void on_unwanted(std::function<void()> unwanted);
  // Wakes the writer. Call it when the result of also_wanted may have changed.
  void look_whether_wanted();
  // The response turned out to be the whole body: see RunPlan::through.
  void replan_whole();
  // `peer` supplies the run's blocks for as long as its response lasts.
  void supply_from(peers::PeerRef peer);
  // Sets inquiries().
  void record(observe::Inquiries inquiries);
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
    bool is_too_late = false;  // the run has ended
  };
  // An early run has taken over the blocks from the end of the plan up to `last`.
  struct Ceded {
    const BlockRun* to = nullptr;
    std::uint32_t last = 0;
    bool accompanied = false;  // by any run
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
  const std::shared_ptr<fill::Fill>& fill_of(std::uint32_t block) REQUIRES(guard_);

  const net::Executor executor_;  // the writer's
  std::atomic<Denied> denied_ = Denied::no;
  net::Wakeup writer_;
  threads::Mutex& guard_;
  RunPlan plan_ GUARDED_BY(guard_);
  std::uint32_t next_ GUARDED_BY(guard_);  // the block under way, or the next to begin
  Readers readers_ GUARDED_BY(guard_);
  struct Neighbours {
    peers::PeerRef peer;
    observe::Inquiries inquiries;
  };
  Neighbours neighbours_ GUARDED_BY(guard_);
  Ceded ceded_ GUARDED_BY(guard_);
  // By the block's number: each fill that is under way, and each fill that a reader waits for.
  std::map<std::uint32_t, std::shared_ptr<fill::Fill>> fills_ GUARDED_BY(guard_);
};

// A reader joins the run that supplies its block, or begins a new one. The writer of a run asks
// here for each next block to write. No lock is held while the store or the disk's index is asked.
// Any thread.
class BlockRuns {
 public:
  // `slots`: how many blocks may be on their way to clients at a time.
  explicit BlockRuns(std::size_t slots = 64) : slots_(slots) {}

  // The longest run that take() begins, in blocks. A run of begin() is as long as its response.
  static constexpr std::uint32_t kMost = 16;
  // A reader waits for a block if a run reaches it within this many blocks. For a block further off
  // it begins a run of its own. More than kMost, so that no block of a run is fetched twice.
  static constexpr std::uint32_t kNear = 32;
  // A run is at most this many blocks ahead of its furthest reader.
  static constexpr std::uint32_t kAhead = 4;
  // An early run begins at most this many blocks before its first block is needed. By then its
  // response has arrived, and both runs supply about as much.
  static constexpr std::uint32_t kLead = 8;
  // No early run is begun for an object that has this many runs.
  static constexpr std::size_t kManyOfOne = 8;

  // A reader's share in a run, or empty. A run continues while a reader has one.
  class Use {
   public:
    Use() = default;
    Use(Use&& other) noexcept : runs_(other.runs_), run_(std::move(other.run_)) {}
    Use& operator=(Use&& other) noexcept;
    ~Use() { release(); }

    void release();
    [[nodiscard]] const std::shared_ptr<BlockRun>& run() const { return run_; }

   private:
    friend class BlockRuns;
    Use(BlockRuns& runs, std::shared_ptr<BlockRun> run) : runs_(&runs), run_(std::move(run)) {}
    BlockRuns* runs_ = nullptr;
    std::shared_ptr<BlockRun> run_;
  };

  struct Wanted {
    cache::Ref<const cache::Entry> object;
    std::uint32_t block = 0;
    std::uint32_t last = 0;  // all blocks from `block` to this one are wanted
    // Whether a run may be begun: no, because the block is needed now, or because it is needed
    // soon.
    enum class Begin : std::uint8_t { no, needed, early } begin = Begin::needed;
  };
  using IsStored = std::function<bool(std::uint32_t)>;  // of a block; called without a lock
  struct Taken {
    Use use;
    std::unique_ptr<fill::FillReader>
        block;           // null: the block is stored by now, or no run supplies it
    bool begun = false;  // the run is new: the caller starts its fetch
  };
  // A reader gets a slot before it takes a block. A block that no reader waits for is fetched only
  // with a spare slot.
  TransferSlots& slots() { return slots_; }
  // Returns a reader of `wanted.block`. Joins the run that supplies the block. Otherwise begins a
  // run from that block to before the next one that is stored or that another run supplies, of at
  // most kMost blocks.
  //
  // Begin::early: never joins a run. If a long run would reach the block only much later, it cedes
  // the blocks from there on to the new run, and ends before them.
  Taken take(const Wanted& wanted, const IsStored& is_stored, net::Executor executor);
  // If a run supplies the block, returns the last block that the same run supplies soon.
  [[nodiscard]] std::optional<std::uint32_t> under_way(const cache::Entry& object,
                                                       std::uint32_t block) const;

  // Begins a run for a response whose head has arrived already.
  std::shared_ptr<BlockRun> begin(cache::Ref<const cache::Entry> object, RunPlan plan,
                                  net::Executor writer);

  // The writer of a run calls the functions below.

  // For each object that a digest names, the right to complete it (WholeCheck).
  using Turn = cache::Readings::ReadRight;
  cache::Readings& settling() { return settling_; }
  // The hashes of objects that digests name. Any thread.
  HashesByVersion& hashes() { return hashes_; }
  // The origin did not grant an early run its range: its blocks return to the run that ceded them.
  void decline(BlockRun& run);
  struct Next {
    std::uint32_t block = 0;
    std::shared_ptr<fill::Fill> fill;  // takes the block's bytes; null: the run is over
    TransferSlots::Slot slot = {};     // empty: a reader waits for the block, and has one
  };
  // Waits until the run's next block is wanted. The run is over after its last block, before a
  // block that is stored or that another run supplies, or when it is not wanted any more.
  net::Task<Next> next(std::shared_ptr<BlockRun> run, IsStored is_stored);
  // The block under way is whole, and stored if possible.
  void done(BlockRun& run);
  // Ends a run, whatever happens: readers of blocks that have not arrived get end.for_readers().
  class Ending {
   public:
    Ending(BlockRuns& runs, std::shared_ptr<BlockRun> run) : runs_(runs), run_(std::move(run)) {}
    ~Ending() { runs_.end(*run_, end); }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;

    RunEnd end;

   private:
    BlockRuns& runs_;
    const std::shared_ptr<BlockRun> run_;
  };
  // Call this when no thread uses the runs any more.
  void clear();

 private:
  using List = std::vector<std::shared_ptr<BlockRun>>;
  static constexpr std::size_t kShards = 16;
  struct Shard {
    threads::Mutex mutex{
        threads::Place::second};  // guards each BlockRun in it, too: BlockRun::expect_guard()
    std::unordered_map<std::uint64_t, List> runs GUARDED_BY(mutex);  // by the object's version
    std::uint64_t supplied GUARDED_BY(mutex) = 0;  // blocks that its runs have supplied so far
  };

  [[nodiscard]] Shard& shard_of(const cache::Entry& object) const;
  // `shard`: the object's.
  [[nodiscard]] static const List& listed(const Shard& shard, const cache::Entry& object)
      REQUIRES(shard.mutex);
  [[nodiscard]] static std::shared_ptr<BlockRun> supplier_of(const Shard& shard,
                                                             const cache::Entry& object,
                                                             std::uint32_t block,
                                                             const BlockRun* but = nullptr)
      REQUIRES(shard.mutex);
  [[nodiscard]] static bool is_free(const Shard& shard, const Wanted& wanted, std::uint32_t block)
      REQUIRES(shard.mutex);
  [[nodiscard]] static bool may_begin_early(const Shard& shard, const Wanted& wanted)
      REQUIRES(shard.mutex);
  Taken join(const Shard& shard, const std::shared_ptr<BlockRun>& run, std::uint32_t block,
             net::Executor executor) REQUIRES(shard.mutex);
  Taken begin(Shard& shard, const Wanted& wanted, cache::BlockRange missing, net::Executor executor)
      REQUIRES(shard.mutex);
  static void enlist(Shard& shard, const std::shared_ptr<BlockRun>& run) REQUIRES(shard.mutex);
  bool is_over(BlockRun& run, const IsStored& is_stored);
  void leave(BlockRun& run);
  void end(BlockRun& run, const RunEnd& how);

  TransferSlots slots_;
  cache::Readings settling_;
  HashesByVersion hashes_;
  mutable std::array<Shard, kShards> shards_;
};

}  // namespace proxy::blocks
