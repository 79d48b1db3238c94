// The neighbours that claim a key, sorted by whether and when a search asks them. No I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "peers/directory.hpp"
#include "proxy/sources/budget.hpp"

namespace proxy {

// Belongs to one search.
class Candidates {
 public:
  // `draw` gives random numbers.
  Candidates(peers::Claimants claimants, const Budget& budget, peers::SteadyTime now,
             const std::function<std::uint32_t()>& draw);

  // Whether no neighbour claims the key.
  [[nodiscard]] bool none() const { return in_line_.empty() && on_trial_.empty() && !reserve(); }
  // Neighbours that failed or were slow: one request at a time asks them, beside the first
  // neighbour of the line.
  [[nodiscard]] const peers::Claimants& on_trial() const { return on_trial_; }

  // The line has the neighbours that fit the budget, the better of two drawn at random first.
  [[nodiscard]] bool left() const { return asked_ < in_line_.size(); }
  [[nodiscard]] std::size_t asked() const { return asked_; }
  [[nodiscard]] const peers::PeerRef& first_left() const { return in_line_[asked_]; }
  const peers::PeerRef& next() { return in_line_[asked_++]; }

  // Whether there are neighbours that are too slow to be asked while the origin works.
  [[nodiscard]] bool reserve() const { return !too_slow_.empty(); }
  // The origin has failed: the reserve joins the line.
  void call_reserve();

 private:
  peers::Claimants in_line_;
  peers::Claimants on_trial_;
  peers::Claimants too_slow_;
  std::size_t asked_ = 0;
};

}  // namespace proxy
