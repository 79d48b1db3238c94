// One block on its way to one client.
#pragma once

#include <chrono>
#include <memory>

#include "proxy/cache/entry.hpp"
#include "proxy/fill/fill.hpp"

namespace proxy {

// Gives each byte of a block once, though its source may change in the middle: a stored entry, or
// a run, which begins the block anew. Belongs to one coroutine.
class BlockReading {
 public:
  using Clock = std::chrono::steady_clock;

  // Another block, of `size` bytes, of which none was given yet. It has no source then.
  void begin(std::uint64_t size);
  void read_from(std::shared_ptr<const cache::Entry> stored) { stored_ = std::move(stored); }
  void read_from(std::unique_ptr<FillReader> run);
  void drop_run() { run_.reset(); }

  [[nodiscard]] bool has_source() const { return stored_ || run_; }
  [[nodiscard]] bool from_stored() const { return stored_ != nullptr; }
  [[nodiscard]] bool from_run() const { return run_ != nullptr; }
  [[nodiscard]] bool is_over() const { return given_ == size_; }
  [[nodiscard]] bool has_begun() const { return given_ > 0; }
  // Since begin(); and how much of that was spent waiting for a run.
  [[nodiscard]] Clock::duration elapsed() const { return Clock::now() - begun_; }
  [[nodiscard]] Clock::duration waited() const { return waited_; }

  // The next bytes from the source that it has. Those of a run may be none: it has ended.
  net::Task<Outcome<Pieces>> next();

 private:
  Pieces rest_of_stored();
  net::Task<Outcome<Pieces>> next_of_run();

  std::uint64_t size_ = 0;
  std::uint64_t given_ = 0;  // bytes
  std::shared_ptr<const cache::Entry> stored_;
  std::unique_ptr<FillReader> run_;
  std::uint64_t position_ = 0;  // of the run's reader in the block
  Clock::time_point begun_{};
  Clock::duration waited_{};
};

}  // namespace proxy
