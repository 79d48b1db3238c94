// Which entry goes first: S3-FIFO (Yang et al., "FIFO queues are all you need for cache eviction",
// SOSP 2023), by bytes.
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <cstdint>

#include "proxy/cache/ghost_list.hpp"

namespace proxy::cache {

// New items enter the small part and leave it for the main part only if they were used more than
// once meanwhile; so a scan passes through without touching what is in main. What leaves the small
// part otherwise becomes a ghost, and goes to main at once if it returns soon. Main is a FIFO with
// second (to fourth) chances. It decides in which order items go; when, and from which part, is the
// owner's to say: the paper shrinks the small part while it is 10 % of the whole or more, and the
// whole is all shards together. Owns no item, follows no lock.
class S3Fifo {
 public:
  enum class Part : std::uint8_t { small, main };

  struct Item : boost::intrusive::list_base_hook<> {
    Item(std::uint64_t item_bytes, std::uint64_t item_fingerprint)
        : bytes(item_bytes), fingerprint(item_fingerprint) {}

    const std::uint64_t bytes;
    const std::uint64_t fingerprint;  // tells a returning item from others
    std::uint8_t frequency = 0;       // uses, up to kMaxFrequency
    Part part = Part::small;
  };

  // Ghosts reach `ghost_window` bytes back: as far as main is large. `small_bytes` is what the
  // small parts that share it hold together.
  S3Fifo(Budget& budget, std::uint64_t ghost_window, std::atomic<std::uint64_t>& small_bytes)
      : small_bytes_(small_bytes), ghosts_(budget, ghost_window) {}

  void insert(Item& item);
  static void touch(Item& item) {
    if (item.frequency < kMaxFrequency) ++item.frequency;
  }
  // `fresh` takes the place of `old`, and its record of uses: the same thing in a newer version.
  void replace(Item& old, Item& fresh);
  void erase(Item& item);
  // Unlinks the item of that part that has to go; null when it has none to give.
  Item* evict(Part part);
  void forget_ghosts() { ghosts_.clear(); }

 private:
  using Queue = boost::intrusive::list<Item, boost::intrusive::constant_time_size<false>>;
  static constexpr std::uint8_t kMaxFrequency = 3;
  static constexpr std::uint8_t kPromoteAbove = 1;  // the paper's "freq > 1"

  Queue& queue(Part part) { return part == Part::main ? main_ : small_; }
  void push(Item& item, Part part);
  Item* evict_small();
  Item* evict_main();

  std::atomic<std::uint64_t>& small_bytes_;
  Queue small_;  // oldest in front
  Queue main_;
  GhostList ghosts_;
};

}  // namespace proxy::cache
