// Bounds the memory of blocks on their way to clients, by their number.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "peers/threads/mutex.hpp"
#include "proxy/cache/object.hpp"
#include "proxy/net/wakeup.hpp"

namespace proxy::crowd {
struct ClientShare;
}

namespace proxy::blocks {

// A counting semaphore that serves its waiters in order. Each slot is for one block of one reader:
// several readers of the same block have a slot each. A reader that waits for a slot must not have
// another one. One client gets three quarters of the slots at most, so that others need not wait
// for its readers. Any thread.
class TransferSlots {
 public:
  // Fetched blocks leave some slots free for stored ones, so that hits do not wait for origins.
  enum class For : std::uint8_t { stored, fetched };
  // The longest wait for a slot.
  static constexpr std::chrono::seconds kPatience{30};

  explicit TransferSlots(std::size_t slots);
  TransferSlots(const TransferSlots&) = delete;
  TransferSlots& operator=(const TransferSlots&) = delete;

  // The number of slots: three eighths of `memory` bytes. The disk's index may take half of the
  // memory, and the disk's queue an eighth.
  static std::size_t slots_in(std::uint64_t memory) { return memory / 8 * 3 / cache::kBlockBytes; }

  // Owns one slot until it is destroyed, or is empty. TransferSlots outlives it.
  class Slot {
   public:
    Slot() = default;
    Slot(Slot&& other) noexcept { *this = std::move(other); }
    Slot& operator=(Slot&& other) noexcept;
    ~Slot() { release(); }

    void release();
    explicit operator bool() const { return all_ != nullptr; }
    // A slot for a fetched block serves for a stored one, too.
    [[nodiscard]] bool serves(For what) const {
      return all_ && (what_ == For::fetched || what == For::stored);
    }
    // Whether a waiter would get the slot. If true, the caller must release it soon. Each waiter
    // makes only one owner release: other owners get true only for other waiters. A waiter whose
    // client has its share counts only for that client's slots.
    [[nodiscard]] bool is_wanted();

   private:
    friend class TransferSlots;
    Slot(TransferSlots& all, For what, const crowd::ClientShare* client)
        : all_(&all), what_(what), client_(client) {}

    TransferSlots* all_ = nullptr;
    For what_ = For::stored;
    const crowd::ClientShare* client_ = nullptr;
    bool leaving_ = false;
  };

  // Never waits. Empty if no slot is free, or others wait for one. `client`: the reader's, which
  // has the slot counted; it outlives the slot. Null: the slot counts for no client.
  [[nodiscard]] Slot try_take(For what, const crowd::ClientShare* client = nullptr);
  // Takes a slot as try_take() does, for a fetched block that no reader waits for yet: leaves a
  // quarter of the slots free.
  [[nodiscard]] Slot spare(const crowd::ClientShare* client = nullptr);
  // Waits for a turn. Empty if none came within `at_most`.
  net::Task<Slot> take(For what, net::Executor executor,
                       std::chrono::milliseconds at_most = kPatience,
                       const crowd::ClientShare* client = nullptr);

 private:
  class Waiter;
  using Turns = std::map<std::uint64_t, Waiter*>;  // by their number in order of arrival
  template <class T>
  using OfEachKind = std::array<T, 2>;
  static std::size_t index(For what) { return static_cast<std::size_t>(what); }

  // A client that has slots, or waits for some.
  struct Reader {
    std::size_t slots = 0;
    OfEachKind<Turns> turns;
  };
  // Waiters are sorted by the number of slots that their client has already, then by arrival. So a
  // client with many waiters does not keep others waiting.
  using Place = std::pair<std::size_t, std::uint64_t>;
  static Place place_of(const crowd::ClientShare* client, const Reader& reader,
                        std::uint64_t number) {
    return {client ? reader.slots : 0, number};
  }
  // The waiters of one kind whose clients may have one more slot. The waiters of other clients are
  // in no line, so nobody steps over them.
  struct Line {
    std::map<Place, Waiter*> first;  // of each client
    std::size_t waiters = 0;
  };

  [[nodiscard]] bool has_slot(For what) const REQUIRES(mutex_);
  [[nodiscard]] bool may_have(const crowd::ClientShare* client, const Reader& reader) const;
  [[nodiscard]] bool may_take(For what, const crowd::ClientShare* client) const REQUIRES(mutex_);
  enum class Move : std::uint8_t { in, out };
  void move_in_lines(Move move, const crowd::ClientShare* client, const Reader& reader)
      REQUIRES(mutex_);
  template <class Change>
  void change(const crowd::ClientShare* client, const Change& edit) REQUIRES(mutex_);
  Waiter* next() REQUIRES(mutex_);
  Slot give(For what, const crowd::ClientShare* client) REQUIRES(mutex_);
  void serve() REQUIRES(mutex_);
  void take_back(const Slot& slot);

  const std::size_t slots_;
  const std::size_t spared_;
  const std::size_t share_;  // the most for fetched blocks, and the most of one client
  threads::Mutex mutex_{threads::Place::third};
  std::size_t taken_ GUARDED_BY(mutex_) = 0;
  // How many of the taken slots are for fetched blocks.
  std::size_t fetched_ GUARDED_BY(mutex_) = 0;
  // The number of taken slots for which is_wanted() has returned true.
  std::size_t leaving_ GUARDED_BY(mutex_) = 0;
  std::unordered_map<const crowd::ClientShare*, Reader> readers_ GUARDED_BY(mutex_);
  std::uint64_t came_ GUARDED_BY(mutex_) = 0;  // waiters so far
  OfEachKind<Line> lines_ GUARDED_BY(mutex_);
};

}  // namespace proxy::blocks
