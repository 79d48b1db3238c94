// The runs under way, by object: each block is fetched once, however many clients read it.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "config/threads/mutex.hpp"
#include "proxy/fill/block_run.hpp"
#include "proxy/fill/run_end.hpp"
#include "proxy/fill/transfer_slots.hpp"

namespace proxy {

// A reader joins the run that supplies its block, or begins a new one; the writer of a run asks
// here for each next block that is wanted. No lock is held while the store or the index is asked.
// Any thread.
class BlockRuns {
 public:
  // `slots`: the blocks that may be on their way to clients at a time.
  explicit BlockRuns(std::size_t slots = 64) : slots_(slots) {}

  // The longest run that take() begins, in blocks. begin() takes a response as long as it is.
  static constexpr std::uint32_t kMost = 16;
  // A reader waits for a block that a run reaches within so many blocks; it begins a run of its own
  // for a block further off. More than kMost, so that no block of a run is fetched twice.
  static constexpr std::uint32_t kNear = 32;
  // A run is at most so many blocks ahead of its furthest reader.
  static constexpr std::uint32_t kAhead = 4;
  // An early run begins at most so many blocks before its first block is needed: its response has
  // arrived by then, and both runs supply about as much.
  static constexpr std::uint32_t kLead = 8;
  // No early run is begun for an object that has so many runs.
  static constexpr std::size_t kManyOfOne = 8;

  // A reader's share in a run, or empty: the run goes on while it has one.
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
    std::shared_ptr<const cache::Entry> object;
    std::uint32_t block = 0;
    std::uint32_t last = 0;  // block, until which all are wanted
    // Whether a run may be begun, and why: the block is needed now, or soon.
    enum class Begin : std::uint8_t { no, needed, early } begin = Begin::needed;
  };
  using IsStored = std::function<bool(std::uint32_t)>;  // of a block; called without a lock
  struct Taken {
    Use use;
    std::unique_ptr<FillReader> block;  // null: it is stored by now, or no run supplies it
    bool begun = false;                 // the run is new: the caller starts its fetch
  };
  // A reader of a block has a slot first. A block that no reader waits for is fetched if a slot is
  // to spare.
  TransferSlots& slots() { return slots_; }
  // A reader of `wanted.block`: of the run that supplies it, or of a new run from that block to the
  // next one that is stored or supplied by another run, kMost blocks at the most.
  //
  // Begin::early: of a new run, or none. A long run cedes to it the blocks from there on, which it
  // would reach much later, and ends before them.
  Taken take(const Wanted& wanted, const IsStored& is_stored, net::Executor executor);
  // If a run supplies the block: the last block that the same run supplies soon.
  [[nodiscard]] std::optional<std::uint32_t> under_way(const cache::Entry& object,
                                                       std::uint32_t block) const;

  // A run of a response that has arrived already.
  std::shared_ptr<BlockRun> begin(std::shared_ptr<const cache::Entry> object, RunPlan plan,
                                  net::Executor writer);

  // For the writer of a run.

  // The origin did not grant an early run its range: its blocks return to the run that ceded them.
  void decline(BlockRun& run);
  struct Next {
    std::uint32_t block = 0;
    std::shared_ptr<Fill> fill;     // takes the block's bytes; null: the run is over
    TransferSlots::Slot slot = {};  // empty: a reader waits for the block, and has one
  };
  // Waits until the run's next block is wanted. The run is over after its last block, before a
  // block that is stored or supplied by another run, and once nobody wants it.
  net::Task<Next> next(std::shared_ptr<BlockRun> run, IsStored is_stored);
  // The block under way is whole, and stored if it could be.
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
  // Call this once no thread uses the runs any more.
  void clear();

 private:
  using List = std::vector<std::shared_ptr<BlockRun>>;
  static constexpr std::size_t kShards = 16;
  struct Shard {
    threads::Mutex mutex;  // guards each BlockRun in it, too: BlockRun::expect_guard()
    std::unordered_map<std::uint64_t, List> runs GUARDED_BY(mutex);  // by the object's version
    std::uint64_t brought GUARDED_BY(mutex) = 0;  // blocks that its runs have supplied so far
  };

  [[nodiscard]] Shard& shard_of(const cache::Entry& object) const;
  // `shard`: the object's.
  [[nodiscard]] static const List* listed(const Shard& shard, const cache::Entry& object)
      REQUIRES(shard.mutex);
  [[nodiscard]] static std::shared_ptr<BlockRun> bringing(const Shard& shard,
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
  bool is_over(BlockRun& run, const IsStored& is_stored);
  void leave(BlockRun& run);
  void end(BlockRun& run, const RunEnd& how);

  TransferSlots slots_;
  mutable std::array<Shard, kShards> shards_;
};

}  // namespace proxy
