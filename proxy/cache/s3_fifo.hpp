// Which entry to evict: S3-FIFO (Yang et al., "FIFO queues are all you need for cache eviction",
// SOSP 2023), by bytes.
#pragma once

#include <atomic>
#include <boost/core/noncopyable.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>

#include "proxy/cache/budget.hpp"

namespace proxy::cache {

// Fingerprints of items that were evicted after little use. Remembers a fingerprint until `window`
// more bytes have been evicted. Each fingerprint is charged to the budget. Not thread-safe.
class GhostList : boost::noncopyable {
 public:
  GhostList(Budget& budget, std::uint64_t window) : budget_(budget), window_(window) {}
  ~GhostList() { clear(); }

  void remember(std::uint64_t fingerprint, std::uint64_t bytes);
  [[nodiscard]] bool has(std::uint64_t fingerprint) const { return latest_.contains(fingerprint); }
  // Returns whether the fingerprint is remembered, and forgets it.
  bool recall(std::uint64_t fingerprint) { return latest_.erase(fingerprint) > 0; }
  void clear();
  // Applies to what is remembered from now on, and at the next remember() to the rest.
  void set_window(std::uint64_t window) { window_ = window; }

  std::size_t size() const { return latest_.size(); }

 private:
  struct Ghost {
    std::uint64_t fingerprint;
    std::uint64_t position;  // value of `evicted_` when it was recorded
  };
  // A record and its entry in the map, with the spare room of both.
  static constexpr std::uint64_t kGhostBytes = 64;

  void drop_oldest();

  Budget& budget_;
  std::uint64_t window_;
  std::uint64_t evicted_ = 0;  // total bytes evicted so far
  std::deque<Ghost> ghosts_;
  // Where each fingerprint was last recorded. Older records of a fingerprint have no meaning.
  boost::unordered_flat_map<std::uint64_t, std::uint64_t> latest_;
};

// New items enter the small part. They move to the main part only if they were used more than once
// there, so a scan passes through without displacing items in main. Other items that leave the
// small part become ghosts, and enter main directly if they return soon. Main is a FIFO with second
// (to fourth) chances.
//
// A duplicate is an item that another cache keeps, too. It is evicted before other items of about
// its age, and gets no second chance. An evicted duplicate becomes no ghost: its return would not
// show that this cache is too small for it.
//
// This class decides only the order of eviction; its owner decides when to evict and from which
// part: the paper shrinks the small part while it is 10 % or more of the whole, and here the whole
// is all shards together. Does not own the items and does not lock.
class S3Fifo {
 public:
  enum class Part : std::uint8_t { small, main };

  struct Item : boost::intrusive::list_base_hook<> {
    explicit Item(std::uint64_t item_bytes)
        : bytes(item_bytes & (~std::uint64_t{0} >> 8)), frequency(0), part(Part::small) {}

    const std::uint64_t bytes : 56;
    std::uint8_t frequency : 4;  // uses, up to kMaxFrequency
    Part part : 4;
  };
  // Recognizes a returning item. Of two different items, the chance is 2^-32 that they have the
  // same fingerprint. It is computed when it is needed and not stored in the item: a store has
  // millions of items, and needs few fingerprints.
  using Fingerprint = std::uint32_t (*)(const Item&);

  // `small_bytes` is the total of the small parts that share it.
  S3Fifo(Budget& budget, std::atomic<std::uint64_t>& small_bytes, Fingerprint fingerprint)
      : fingerprint_(fingerprint), small_bytes_(small_bytes), ghosts_(budget, 0) {}

  void insert(Item& item);
  // Whether an item is a ghost, so that insert() would put it into main. If not, it becomes one, as
  // if it had passed through the small part.
  [[nodiscard]] bool returns(std::uint32_t fingerprint, std::uint64_t bytes);
  static void touch(Item& item) {
    if (item.frequency < kMaxFrequency) ++item.frequency;
  }
  // Puts `fresh`, a newer version of the same item, in the place of `old`, and keeps the use count.
  void replace(Item& old, Item& fresh);
  void erase(Item& item);
  // Unlinks the next item to evict from that part; null if the part has none. `is_duplicate` is
  // asked about each item that is considered, the oldest first.
  struct Evicted {
    Item* item = nullptr;
    bool is_duplicate = false;
  };
  using IsDuplicate = std::function<bool(const Item&)>;
  Evicted evict(Part part, const IsDuplicate& is_duplicate);
  void forget_ghosts() { ghosts_.clear(); }
  // Ghosts reach `window` bytes back, the size of main; at first, no byte.
  void set_ghost_window(std::uint64_t window) { ghosts_.set_window(window); }

 private:
  using Queue = boost::intrusive::list<Item, boost::intrusive::constant_time_size<false>>;
  static constexpr std::uint8_t kMaxFrequency = 3;
  static constexpr int kOldest = 8;                 // how many are searched for a duplicate
  static constexpr std::uint8_t kPromoteAbove = 1;  // the paper's "freq > 1"

  Queue& queue(Part part) { return part == Part::main ? main_ : small_; }
  void push(Item& item, Part part);
  // Unlinks the first duplicate among the oldest items; null if there is none.
  Item* evict_duplicate(Part part, const IsDuplicate& is_duplicate);
  Item* evict_small();
  Item* evict_main();

  const Fingerprint fingerprint_;
  std::atomic<std::uint64_t>& small_bytes_;
  Queue small_;  // oldest in front
  Queue main_;
  GhostList ghosts_;
};

}  // namespace proxy::cache
