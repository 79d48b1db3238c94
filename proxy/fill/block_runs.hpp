// The runs under way, by object: each block is asked for once, however many read it.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "proxy/fill/block_run.hpp"
#include "proxy/fill/transfer_slots.hpp"

namespace proxy {

// Any thread.
class BlockRuns {
 public:
  // `slots`: for so many blocks at a time there is room on their way to clients.
  explicit BlockRuns(std::size_t slots = 64) : slots_(slots) {}

  // So many blocks are asked for at once, but by who asks for what nothing is known of yet.
  static constexpr std::uint32_t kMost = 16;
  // Who wants a block that a run will have reached within so many waits for it: more than kMost, so
  // that what was asked for once is not asked for again because it is far off.
  static constexpr std::uint32_t kNear = 32;
  // A run is at most so many blocks ahead of the reader that is furthest on.
  static constexpr std::uint32_t kAhead = 4;
  // So many blocks before it is needed at the most, the next run is begun: by then its answer is
  // there, and it brings as much as the one before it still has to.
  static constexpr std::uint32_t kLead = 8;
  // None is begun before it is needed where so many bring blocks of the object already.
  static constexpr std::size_t kManyOfOne = 8;

  // While somebody has one, the run goes on.
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
    std::uint32_t last = 0;  // the last one that is wanted after it
    // What it is to a run that has to be begun: `needed`, `early`, or of no use.
    enum class Begin : std::uint8_t { no, needed, early } begin = Begin::needed;
  };
  using IsStored = std::function<bool(std::uint32_t)>;
  struct Taken {
    Use use;
    std::unique_ptr<FillReader> block;  // null: it is held by now, or is not under way
    bool begun = false;                 // the run is new: the caller starts it
  };
  // Who reads has a place in it first. What nobody waits for yet is brought where some are spare.
  TransferSlots& slots() { return slots_; }
  // A reader of the block: of a run that brings it, or of a new one from there to before the next
  // block that is held, or under way already. `held` is asked without a lock.
  //
  // `early`: of a new one or none. What a long run comes to much later it leaves to this one, and
  // ends before it.
  Taken take(const Wanted& wanted, const IsStored& is_stored, net::Executor executor);
  // Up to which block it comes, from that one on; nothing where that one does not.
  [[nodiscard]] std::optional<std::uint32_t> under_way(const cache::Entry& object,
                                                       std::uint32_t block) const;

  // A run of a response that is here already.
  std::shared_ptr<BlockRun> begin(std::shared_ptr<const cache::Entry> object, RunPlan plan,
                                  net::Executor writer);

  // The writer's side.

  // An early one was not granted what it asked for: what was left to it is not.
  void decline(BlockRun& run);
  struct Next {
    std::uint32_t block = 0;
    std::shared_ptr<Fill> fill;     // null: the run is at its end
    TransferSlots::Slot slot = {};  // none: somebody waits for the block, and has one
  };
  // Waits until somebody wants it.
  net::Task<Next> next(std::shared_ptr<BlockRun> run, IsStored is_stored);
  // The block under way is where others find it.
  void done(BlockRun& run);
  // The end of a run, whatever happens: who waits for what has not come gets the failure.
  class Ending {
   public:
    Ending(BlockRuns& runs, std::shared_ptr<BlockRun> run) : runs_(runs), run_(std::move(run)) {}
    ~Ending() { runs_.end(*run_, why); }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;

    Failure why{Failure::Where::us, Failure::What::overload, {}};

   private:
    BlockRuns& runs_;
    const std::shared_ptr<BlockRun> run_;
  };
  // When nothing runs any more.
  void clear();

 private:
  using List = std::vector<std::shared_ptr<BlockRun>>;
  static constexpr std::size_t kShards = 16;
  // Guards the runs of its objects, too.
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, List> runs;  // by the object's version
    std::uint64_t brought = 0;                     // blocks, by all its runs
  };

  [[nodiscard]] Shard& shard_of(const cache::Entry& object) const;
  [[nodiscard]] std::unique_lock<std::mutex> lock_of(const cache::Entry& object) const {
    return std::unique_lock(shard_of(object).mutex);
  }
  [[nodiscard]] const List* listed(const cache::Entry& object) const;
  [[nodiscard]] std::shared_ptr<BlockRun> bringing(const cache::Entry& object, std::uint32_t block,
                                                   const BlockRun* but = nullptr) const;
  [[nodiscard]] bool is_free(const Wanted& wanted, std::uint32_t block) const;
  [[nodiscard]] bool may_begin_early(const Wanted& wanted) const;
  Taken join(const std::shared_ptr<BlockRun>& run, std::uint32_t block, net::Executor executor);
  Taken begin(const Wanted& wanted, cache::BlockRange missing, net::Executor executor);
  bool is_over(BlockRun& run, const IsStored& is_stored);
  void leave(BlockRun& run);
  void end(BlockRun& run, Failure failure);

  TransferSlots slots_;
  mutable std::array<Shard, kShards> shards_;
};

}  // namespace proxy
