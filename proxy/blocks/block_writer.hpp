// Writes a response's body into the blocks of a run; and whether the source of a body is fast
// enough.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "digest/key.hpp"
#include "proxy/blocks/whole_check.hpp"
#include "proxy/sources/neighbour.hpp"
#include "proxy/tiers/object_blocks.hpp"

namespace proxy::blocks {

// Why a writer of a body stops: its source has ended too early or is too slow, or nobody reads it.
inline constexpr upstream::Failure kBodyCut{
    upstream::Failure::Where::upstream, upstream::Failure::What::cut, {}};
inline constexpr upstream::Failure kBodyTooSlow{
    upstream::Failure::Where::upstream, upstream::Failure::What::timed_out, {}};
inline constexpr upstream::Failure kBodyUnwanted{
    upstream::Failure::Where::us, upstream::Failure::What::abandoned, {}};

// A sibling that sends fewer bytes per second is no help.
inline constexpr std::uint64_t kLeastSiblingRate = 64 * 1024;

// Over less time, a rate means nothing.
inline constexpr std::chrono::seconds kRateGrace{1};

// Counts only the time spent waiting for bytes, so that a slow reader does not make its source look
// slow.
class LeastRate {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // `grace`: how much longer the source may take than the rate requires.
  LeastRate(std::uint64_t bytes_per_second, std::chrono::milliseconds grace)
      : bytes_per_second_(bytes_per_second), grace_(grace) {}

  void record(std::uint64_t bytes, Duration waited) {
    bytes_ += bytes;
    waited_ += waited;
  }
  [[nodiscard]] bool missed() const {
    return waited_ > grace_ + std::chrono::milliseconds(bytes_ * 1000 / bytes_per_second_);
  }

 private:
  std::uint64_t bytes_per_second_;
  std::chrono::milliseconds grace_;
  std::uint64_t bytes_ = 0;
  Duration waited_{};
};

class BlockWriter {
 public:
  struct Into {
    std::shared_ptr<BlockRun> run;
    digest::Key key;  // of the URL
    std::shared_ptr<tiers::DiskPatience> patience;
    std::uint32_t last = UINT32_MAX;  // the block with which the answer's body ends at the latest
    std::optional<mirrors::ContentName> name = {};  // of the object: see digest_of()
  };
  // The answer's body begins with the first byte of BlockRun::rest(). The access and the answer
  // outlive the writer.
  BlockWriter(FetchAccess& access, Into into, sources::Attempt& answer);
  ~BlockWriter();
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  // Streams each block to the run's readers, and stores it once it is whole, until the run is over
  // or Into::last is written. The caller passes a failure on to the readers (BlockRuns::Ending).
  // `idle`: the longest wait for the next bytes of the body.
  //
  // If the object has a name, the last bytes of each block are shown only once it may be stored:
  // see WholeCheck. If the object turns out to have another digest, it is erased, the run is
  // refused, and write() fails with Errc::wrong_content.
  net::Task<upstream::Outcome<void>> write(std::chrono::milliseconds idle);
  // From now on write() fails with `timed_out` if the source sends fewer bytes per second.
  void expect(std::uint64_t bytes_per_second) { rate_.emplace(bytes_per_second, kRateGrace); }
  [[nodiscard]] std::uint64_t received() const { return received_; }  // bytes
  // What a neighbour's body was worth. An object with a wrong digest counts against the neighbour
  // only if it supplied all blocks: otherwise another source may be wrong.
  [[nodiscard]] sources::Finding worth_of(const upstream::Outcome<void>& written) const;

 private:
  net::Task<upstream::Outcome<void>> write_block(fill::Fill& fill, std::uint64_t size,
                                                 std::chrono::milliseconds idle);
  net::Task<upstream::Outcome<void>> settle(fill::Fill& fill, std::uint32_t block);
  cache::Ref<cache::Block> next_piece(std::uint64_t left);
  void keep(std::uint32_t block, const fill::Fill& fill);
  void claim_part();
  [[nodiscard]] bool is_of_all() const;  // whether this answer has supplied the whole object
  [[nodiscard]] bool worth_finishing(const fill::Fill& fill, std::uint64_t size) const;

  FetchAccess& access_;
  const Into into_;
  sources::Attempt& answer_;
  const std::shared_ptr<BlockWriter*> self_ =
      std::make_shared<BlockWriter*>(this);  // see the constructor
  const fill::Fill* under_way_ = nullptr;
  std::uint64_t size_ = 0;  // of the block under way
  std::uint64_t received_ = 0;
  const std::chrono::steady_clock::time_point begun_ = access_.clock().steady();
  bool claimed_ = false;  // see claim_part()
  std::optional<LeastRate> rate_;
  struct Checked {
    WholeCheck whole;
    cache::Slice last = {};        // of the block under way, which its readers have not seen yet
    bool is_source_wrong = false;  // surely, if write() has failed with Errc::wrong_content
  };
  std::optional<Checked> checked_;  // nothing: the object has no name
};

}  // namespace proxy::blocks
