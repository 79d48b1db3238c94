// Which bodies on disk were read and found intact.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "proxy/cache/disk/format.hpp"

namespace proxy::cache {

// Which bodies on disk have been verified, and when. A table of fixed size: a body may overwrite
// the place of another, which is then verified once more. Takes half a MiB after the first
// record(). For one thread.
class CheckedBodies {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // How long a check of a body counts, provided that the page cache has the body at each look. A
  // look cannot tell whether a page left the page cache in between and was read again: for another
  // record in the page, by readahead, or for another program. But the system hardly evicts a body
  // that was read so lately, and to check a body of 100 KiB every 10 s costs nothing.
  static constexpr std::chrono::seconds kReliedUpon{10};

  enum class Check : std::uint8_t {
    none,
    before,
    lately,  // within kReliedUpon
  };
  // `at`: the position of the record that has the body.
  [[nodiscard]] Check last_check(disk::Position at, Time now) const {
    if (slots_.empty()) return Check::none;
    const auto& slot = slots_[slot_of(at)];
    if (slot.at != at) return Check::none;
    return now - slot.checked < kReliedUpon ? Check::lately : Check::before;
  }
  void record(disk::Position at, Time now) {
    if (slots_.empty()) slots_.resize(kSlots);
    slots_[slot_of(at)] = {at, now};
  }
  void forget(disk::Position at) {
    if (!slots_.empty() && slots_[slot_of(at)].at == at) slots_[slot_of(at)] = {};
  }

 private:
  struct Slot {
    disk::Position at{};
    Time checked{};
  };
  static constexpr unsigned kSlotBits = 15;
  static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;

  // Multiplicative hashing (Knuth, volume 3, 6.4).
  static std::size_t slot_of(disk::Position at) {
    return static_cast<std::size_t>(disk::to_number(at) * 0x9e3779b97f4a7c15U >> (64 - kSlotBits));
  }

  std::vector<Slot> slots_;
};

}  // namespace proxy::cache
