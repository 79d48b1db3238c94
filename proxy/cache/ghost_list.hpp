// Fingerprints of items that were evicted recently after little use.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "proxy/cache/budget.hpp"

namespace proxy::cache {

// Remembers a fingerprint until `window` more bytes have been evicted. Each fingerprint is charged
// to the budget. Not thread-safe.
class GhostList {
 public:
  GhostList(Budget& budget, std::uint64_t window) : budget_(budget), window_(window) {}
  ~GhostList() { clear(); }
  GhostList(const GhostList&) = delete;
  GhostList& operator=(const GhostList&) = delete;

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
  // Where each fingerprint was last recorded. Older records of it have no meaning.
  boost::unordered_flat_map<std::uint64_t, std::uint64_t> latest_;
};

}  // namespace proxy::cache
