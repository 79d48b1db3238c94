#include "proxy/cache/claims.hpp"

namespace proxy::cache {

void ChangeQueue::append(const KeyChange& change) {
  if (overflowed_) return;
  if (changes_.size() < limit_) {
    changes_.push_back(change);
  } else {
    overflowed_ = true;
    changes_ = {};
  }
}

Collected ChangeQueue::drain(std::vector<KeyChange>& out) {
  if (overflowed_) return Collected::overflowed;
  out.insert(out.end(), changes_.begin(), changes_.end());
  changes_.clear();
  return Collected::complete;
}

void ChangeQueue::restart() {
  overflowed_ = false;
  changes_.clear();
}

}  // namespace proxy::cache
