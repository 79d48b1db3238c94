// Memory for blocks of large objects on their way to clients: for so many at a time.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "proxy/cache/object.hpp"
#include "proxy/net/wakeup.hpp"

namespace proxy {

// A counting semaphore whose waiters come in order. Each slot is for one block; several readers of
// the same block have one each. Who waits for a slot must not have another. Any thread.
class TransferSlots {
 public:
  // What comes from upstream leaves some slots to what is held, so that hits do not wait for
  // origins.
  enum class For : std::uint8_t { stored, fetched };
  // Nobody waits longer for its turn.
  static constexpr std::chrono::seconds kPatience{30};

  explicit TransferSlots(std::size_t slots);
  TransferSlots(const TransferSlots&) = delete;
  TransferSlots& operator=(const TransferSlots&) = delete;

  // Three eighths of that memory: half may be the disk's index, and an eighth its queue.
  static std::size_t slots_in(std::uint64_t memory) { return memory / 8 * 3 / cache::kBlockBytes; }

  // One of the slots, until this ends. Outlived by them.
  class Slot {
   public:
    Slot() = default;
    Slot(Slot&& other) noexcept { *this = std::move(other); }
    Slot& operator=(Slot&& other) noexcept;
    ~Slot() { release(); }

    void release();
    explicit operator bool() const { return all_ != nullptr; }
    // One for what is fetched serves for what is held, too.
    [[nodiscard]] bool serves(For what) const {
      return all_ && (what_ == For::fetched || what == For::stored);
    }
    // Whether somebody waits who would get it: who asks, and is told so, is to release it soon, and
    // others who ask meanwhile are told so for the sake of others.
    [[nodiscard]] bool is_wanted();

   private:
    friend class TransferSlots;
    Slot(TransferSlots& all, For what) : all_(&all), what_(what) {}

    TransferSlots* all_ = nullptr;
    For what_ = For::stored;
    bool leaving_ = false;
  };

  // At once, where one is free and nobody waits for it; else it is empty.
  [[nodiscard]] Slot try_take(For what);
  // The same for what nobody waits for yet, as long as there is plenty.
  [[nodiscard]] Slot spare();
  // In turn. Empty: it took longer than that.
  net::Task<Slot> take(For what, net::Executor executor,
                       std::chrono::milliseconds at_most = kPatience);

 private:
  class Turn;
  using Turns = std::map<std::uint64_t, Turn*>;  // by when they came

  Turns& turns(For what) { return turns_[static_cast<std::size_t>(what)]; }
  [[nodiscard]] bool has_slot(For what) const;
  Turns* next_turns();
  Slot give(For what);
  void serve();
  void take_back(const Slot& slot);

  const std::size_t slots_;
  const std::size_t spared_;
  const std::size_t most_fetched_;
  std::mutex mutex_;
  std::size_t taken_ = 0;  // guarded, as what follows
  std::size_t fetched_ = 0;
  std::size_t leaving_ = 0;
  std::uint64_t came_ = 0;
  std::array<Turns, 2> turns_;
};

}  // namespace proxy
