// One block on its way to one client.
#pragma once

#include <chrono>
#include <memory>

#include "proxy/cache/entry.hpp"
#include "proxy/fill/fill.hpp"
#include "proxy/machine/clock.hpp"

namespace proxy {

// Gives each byte of a block once, even if the source changes within the block. A source is a
// stored entry or a run, and begins at the first byte of the block. Belongs to one coroutine.
class BlockReading {
 public:
  explicit BlockReading(const machine::Clock& clock) : clock_(clock) {}

  // Goes to another block, of `size` bytes, which has no source yet.
  void begin(std::uint64_t size);
  void read_from(cache::Ref<const cache::Entry> stored) { stored_ = std::move(stored); }
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
  Pieces rest_of_stored();
  net::Task<Outcome<Pieces>> next_of_run();

  const machine::Clock& clock_;
  std::uint64_t size_ = 0;
  std::uint64_t given_ = 0;  // bytes given so far
  cache::Ref<const cache::Entry> stored_;
  std::unique_ptr<FillReader> run_;
  std::uint64_t position_ = 0;  // of the run's reader in the block
  machine::Clock::SteadyTime begun_{};
  std::chrono::nanoseconds waited_{};
};

}  // namespace proxy
