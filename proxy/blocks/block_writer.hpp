// The writing side of a run: takes a response's body apart into blocks, and keeps each that is
// whole.
#pragma once

#include <memory>
#include <optional>

#include "digest/key.hpp"
#include "proxy/blocks/least_rate.hpp"
#include "proxy/fill/block_runs.hpp"
#include "proxy/observe/record.hpp"
#include "proxy/tiers/object_blocks.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy {

class BlockWriter {
 public:
  struct Into {
    std::shared_ptr<BlockRun> run;
    digest::Key key;  // of the URL
    Hierarchy from = Hierarchy::direct;
    std::shared_ptr<DiskPatience> patience = std::make_shared<DiskPatience>();
  };
  // The fetch's body begins with the first byte of the run's rest (BlockRuns::rest()). All of it
  // outlives the writer.
  BlockWriter(Worker& worker, Into into, Fetch& fetch);
  ~BlockWriter();
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  // To the end of the run, which is there too when nobody wants more of it. A failure is not told
  // to the run's readers: BlockRuns::end(). `idle`: at most, until the next bytes of the body.
  net::Task<Outcome<void>> write(std::chrono::milliseconds idle);
  // From who sends fewer bytes per second than this no more is taken.
  void expect(std::uint64_t bytes_per_second) { rate_.emplace(bytes_per_second, kGrace); }
  [[nodiscard]] std::uint64_t received() const { return received_; }  // bytes

 private:
  static constexpr std::chrono::seconds kGrace{1};  // before a rate means anything

  net::Task<Outcome<void>> write_block(Fill& fill, std::uint64_t size,
                                       std::chrono::milliseconds idle);
  std::shared_ptr<cache::Block> next_piece(std::uint64_t left);
  void keep(std::uint32_t block, const Fill& fill);
  [[nodiscard]] bool worth_finishing(const Fill& fill, std::uint64_t size) const;

  Worker& worker_;
  const Into into_;
  Fetch& fetch_;
  const std::shared_ptr<BlockWriter*> self_ = std::make_shared<BlockWriter*>(this);  // for the hook
  const Fill* under_way_ = nullptr;
  std::uint64_t size_ = 0;  // of the block under way
  std::uint64_t received_ = 0;
  std::optional<LeastRate> rate_;
};

}  // namespace proxy
