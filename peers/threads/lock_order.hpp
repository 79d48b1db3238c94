// The order in which a thread takes locks. Builds for debugging check it, sanitizers' builds among
// them; others do nothing here. proxy/README.md says which lock has which place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace threads {

// A thread takes a lock only while it holds none of this place or a later one. So no two threads
// wait for each other.
enum class Place : std::uint8_t {
  first,
  second,
  third,
  alone,  // taken while the thread holds no lock, and only `last` is taken while this one is held
  last,   // taken whatever the thread holds, and no lock is taken while this one is held
};

#ifdef HEARSAY_CHECK_LOCK_ORDER

// The locks that one thread holds, by place. Locks may be released in any order.
class HeldLocks {
 public:
  // Call this before the wait for a lock, because a deadlock would not come back from the wait.
  // `beside`: locks of the same place may be held.
  void take(Place place, bool beside = false) {
    const auto at = static_cast<std::size_t>(place);
    const auto least = place == Place::alone ? 0 : at + (beside ? 1 : 0);
    for (std::size_t i = least; i < held_.size(); ++i) {
      if (held_[i] > 0) fail(at, i);
    }
    ++held_[at];
  }
  void release(Place place) { --held_[static_cast<std::size_t>(place)]; }

 private:
  [[noreturn]] static void fail(std::size_t wanted, std::size_t held) {
    std::fprintf(stderr, "locks taken out of order: place %zu while a lock of place %zu is held\n",
                 wanted, held);
    std::abort();
  }

  std::array<unsigned, 5> held_{};
};

inline HeldLocks& held_locks() {
  thread_local HeldLocks held;
  return held;
}

// What a lock notes of itself.
class Ordered {
 public:
  explicit constexpr Ordered(Place place) : place_(place) {}
  void taking() const { held_locks().take(place_); }
  void taking_beside_others() const { held_locks().take(place_, true); }
  void released() const { held_locks().release(place_); }

 private:
  Place place_;
};

#else

class Ordered {
 public:
  explicit constexpr Ordered(Place) {}
  void taking() const {}
  void taking_beside_others() const {}
  void released() const {}
};

#endif

}  // namespace threads
