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

// A counting semaphore whose waiters come in order. Each place is for one block; several readers of
// the same block have one each. Who waits for a place must not have another. Any thread.
class Room {
 public:
  // What comes from upstream leaves some places to what is held, so that hits do not wait for
  // origins.
  enum class For : std::uint8_t { held, fetched };
  // Nobody waits longer for its turn.
  static constexpr std::chrono::seconds kPatience{30};

  explicit Room(std::size_t places);
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  // Three eighths of that memory: half may be the disk's index, and an eighth its queue.
  static std::size_t places_in(std::uint64_t memory) { return memory / 8 * 3 / cache::kBlockBytes; }

  // One of the places, until this ends. Outlived by the room.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept { *this = std::move(other); }
    Place& operator=(Place&& other) noexcept;
    ~Place() { release(); }

    void release();
    explicit operator bool() const { return room_ != nullptr; }
    // One for what is fetched serves for what is held, too.
    [[nodiscard]] bool serves(For what) const {
      return room_ && (what_ == For::fetched || what == For::held);
    }
    // Whether somebody waits who would get it: who asks, and is told so, is to release it soon, and
    // others who ask meanwhile are told so for the sake of others.
    [[nodiscard]] bool is_wanted();

   private:
    friend class Room;
    Place(Room& room, For what) : room_(&room), what_(what) {}

    Room* room_ = nullptr;
    For what_ = For::held;
    bool going_ = false;
  };

  // At once, where one is free and nobody waits for it; else it is empty.
  [[nodiscard]] Place try_take(For what);
  // The same for what nobody waits for yet, as long as there is plenty.
  [[nodiscard]] Place spare();
  // In turn. Empty: it took longer than that.
  net::Task<Place> take(For what, net::Executor executor,
                        std::chrono::milliseconds at_most = kPatience);

 private:
  class Turn;
  using Turns = std::map<std::uint64_t, Turn*>;  // by when they came

  Turns& turns(For what) { return turns_[static_cast<std::size_t>(what)]; }
  [[nodiscard]] bool has_place(For what) const;
  Turns* next_turns();
  Place give(For what);
  void serve();
  void take_back(const Place& place);

  const std::size_t places_;
  const std::size_t spared_;
  const std::size_t most_fetched_;
  std::mutex mutex_;
  std::size_t taken_ = 0;  // guarded, as what follows
  std::size_t fetched_ = 0;
  std::size_t going_ = 0;
  std::uint64_t came_ = 0;
  std::array<Turns, 2> turns_;
};

}  // namespace proxy
