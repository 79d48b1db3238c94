#include "proxy/cache/disk/catalog/walk.hpp"

#include <algorithm>
#include <utility>

namespace proxy::cache::disk {

Walk::Walk(const Index& index, std::function<bool(const Location&)> wanted)
    : index_(index), wanted_(std::move(wanted)) {
  index_.each([this](const Key&, const Location& place) { end_ = std::max(end_, place.at); });
}

// Gathers the next kAhead entries in the order of the log. The shards are in no order, so each may
// have entries that lie before those gathered so far. `cut` keeps the first kAhead and drops the
// others. It runs only once there are twice as many, because it looks at every gathered entry.
void Walk::gather() {
  ahead_.clear();
  met_ = 0;
  Position last = end_;
  const auto cut = [&] {
    const auto middle = ahead_.begin() + kAhead;
    std::nth_element(ahead_.begin(), middle - 1, ahead_.end(), lies_before);
    ahead_.erase(middle, ahead_.end());
    last = ahead_.back().at;
  };
  for (std::size_t shard = 0; shard < Index::kShards; ++shard) {
    index_.each_in(shard, [&](const Key& key, const Location& place) {
      if (place.at > passed_ && place.at <= last && wanted_(place))
        ahead_.push_back({key, place.at});
    });
    if (ahead_.size() > 2 * kAhead) cut();
  }
  if (ahead_.size() > kAhead) cut();
  std::sort(ahead_.begin(), ahead_.end(), lies_before);
  passed_ = last;
}

std::optional<Walk::Step> Walk::next() {
  for (;;) {
    if (met_ == ahead_.size()) {
      if (passed_ >= end_) return std::nullopt;
      gather();
      continue;
    }
    const Key& key = ahead_[met_++].key;
    const auto place = index_.find(key);  // the entry may have been copied or replaced meanwhile
    if (place && wanted_(*place)) return Step{key, *place};
  }
}

}  // namespace proxy::cache::disk
