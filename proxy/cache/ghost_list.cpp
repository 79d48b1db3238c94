#include "proxy/cache/ghost_list.hpp"

namespace proxy::cache {

void GhostList::remember(std::uint64_t fingerprint, std::uint64_t bytes) {
  evicted_ += bytes;
  ghosts_.push_back({fingerprint, evicted_});
  latest_[fingerprint] = evicted_;
  budget_.charge(kGhostBytes);
  while (ghosts_.front().position + window_ < evicted_) drop_oldest();
}

void GhostList::drop_oldest() {
  const Ghost oldest = ghosts_.front();
  ghosts_.pop_front();
  budget_.release(kGhostBytes);
  const auto latest = latest_.find(oldest.fingerprint);
  if (latest != latest_.end() && latest->second == oldest.position) latest_.erase(latest);
}

void GhostList::clear() {
  budget_.release(ghosts_.size() * kGhostBytes);
  ghosts_ = {};
  latest_ = {};
}

}  // namespace proxy::cache
