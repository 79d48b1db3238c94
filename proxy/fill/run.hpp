// Blocks of a large object on their way here, brought by one upstream response.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "peers/peer.hpp"
#include "proxy/cache/object.hpp"
#include "proxy/fill/fill.hpp"

namespace proxy {

// How far one goes, and what it heeds.
struct RunPlan {
  cache::BlockRun blocks;
  // The response is the whole body, perhaps from one that knows no ranges: who wants any block of
  // it waits, and it goes on past what is held.
  bool through = false;
  // Besides its readers, who else wants it to go on; asked without a lock, on any thread.
  std::function<bool()> also_wanted = {};
  // Begun before it was needed: what the origin does not grant it may grant later.
  bool early = false;
};

// Made, joined and led by Runs. One coroutine brings the blocks, in order; any number of readers
// take them.
class Run {
 public:
  Run(std::shared_ptr<const cache::Entry> of, RunPlan plan, net::Executor writer);

  const std::shared_ptr<const cache::Entry> object;

  // The origin has another version by now, or will not say more of this one: what is sent anew has
  // to be asked for anew.
  [[nodiscard]] bool refused() const { return refused_; }
  void note_refused() { refused_ = true; }
  [[nodiscard]] bool early() const { return plan_.early; }
  // It was not granted what it had asked for early: Runs::decline().
  [[nodiscard]] bool declined() const { return declined_; }

 private:
  friend class Runs;

  struct Readers {
    std::size_t count = 0;
    std::uint32_t asked_for = 0;  // the furthest block that one has asked for
    // Called on the writer's thread when the last one has left.
    std::function<void()> on_unwanted = {};
  };
  // The blocks after the last one of the plan, until `last`, which an early run has taken over.
  struct Ceded {
    const Run* to = nullptr;
    std::uint32_t last = 0;
  };

  [[nodiscard]] bool brings(std::uint32_t block) const;
  // The furthest one that it brings, where it brings any.
  [[nodiscard]] std::uint32_t last_near() const;
  [[nodiscard]] bool may_leave(std::uint32_t block) const;
  const std::shared_ptr<Fill>& fill_of(std::uint32_t block);

  const net::Executor executor_;  // the writer's
  std::atomic<bool> refused_ = false;
  std::atomic<bool> declined_ = false;
  Wakeup writer_;
  // Guarded by the mutex of its shard of Runs:
  RunPlan plan_;
  std::uint32_t next_;  // block: under way, or the next to begin
  Readers readers_;
  peers::PeerRef peer_;  // who brings it; null: the origin, or nobody yet
  bool ended_ = false;
  Ceded ceded_;
  std::map<std::uint32_t, std::shared_ptr<Fill>> fills_;  // of blocks under way or waited for
};

}  // namespace proxy
