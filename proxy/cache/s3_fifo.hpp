// Which entry goes first: S3-FIFO (Yang et al., "FIFO queues are all you need for cache eviction",
// SOSP 2023), by bytes.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstdint>

#include "proxy/cache/ghost_list.hpp"

namespace proxy::cache {

// New items enter a small queue, 10 % of the capacity, and leave it for the main queue only if they
// were used more than once meanwhile; so a scan passes through without touching what is in main.
// What leaves the small queue otherwise becomes a ghost, and goes to main at once if it returns
// soon. Main is a FIFO with second (to fourth) chances. It decides only in which order items go,
// never when. Owns no item, follows no lock.
class S3Fifo {
 public:
  struct Item : boost::intrusive::list_base_hook<> {
    Item(std::uint64_t item_bytes, std::uint64_t item_fingerprint)
        : bytes(item_bytes), fingerprint(item_fingerprint) {}

    const std::uint64_t bytes;
    const std::uint64_t fingerprint;  // tells a returning item from others
    std::uint8_t frequency = 0;       // uses, up to kMaxFrequency
    bool in_main = false;
  };

  S3Fifo(Budget& budget, std::uint64_t capacity);

  void insert(Item& item);
  static void touch(Item& item) {
    if (item.frequency < kMaxFrequency) ++item.frequency;
  }
  // `fresh` takes the place of `old`, and its record of uses: the same thing in a newer version.
  void replace(Item& old, Item& fresh);
  void erase(Item& item);
  // Unlinks the item that has to go; null when there is none.
  Item* evict();
  void forget_ghosts() { ghosts_.clear(); }

 private:
  using Queue = boost::intrusive::list<Item, boost::intrusive::constant_time_size<false>>;
  static constexpr std::uint8_t kMaxFrequency = 3;
  static constexpr std::uint8_t kPromoteAbove = 1;  // the paper's "freq > 1"

  Item* step_small();
  Item* step_main();

  const std::uint64_t small_target_;
  std::uint64_t small_bytes_ = 0;
  Queue small_;  // oldest in front
  Queue main_;
  GhostList ghosts_;
};

}  // namespace proxy::cache
