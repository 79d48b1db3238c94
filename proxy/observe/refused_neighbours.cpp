#include "proxy/observe/refused_neighbours.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace proxy::observe {

void RefusedNeighbours::record(Refused neighbour) {
  const auto text = neighbour.text;
  {
    const threads::MutexLock lock(mutex_);
    const auto found = std::ranges::find_if(
        all_, [&](const Refused& one) { return one.address == neighbour.address; });
    if (found != all_.end()) {
      const auto before = std::exchange(found->last, neighbour.last);
      if (neighbour.last - before < kLately) return;
    } else {
      const auto by_last = [](const Refused& a, const Refused& b) { return a.last < b.last; };
      // Addresses in access.peers may be a whole network, so that the table is bounded.
      if (all_.size() == kMost) all_.erase(std::ranges::min_element(all_, by_last));
      all_.push_back(std::move(neighbour));
    }
  }
  // After the lock, as the log may wait for a pipe or a disk.
  spdlog::warn("neighbour {}: {}", text, kWhy);
}

void RefusedNeighbours::say_ended(Time now) {
  std::vector<std::string> ended;
  {
    const threads::MutexLock lock(mutex_);
    for (const auto& one : all_) {
      if (now - one.last >= kLately) ended.push_back(one.text);
    }
    std::erase_if(all_, [now](const Refused& one) { return now - one.last >= kLately; });
  }
  for (const auto& text : ended) {
    spdlog::info("neighbour {}: it was refused nothing for {} minutes", text, kLately.count());
  }
}

std::vector<RefusedNeighbours::Refused> RefusedNeighbours::lately(Time now) const {
  const threads::MutexLock lock(mutex_);
  auto recent = all_;
  std::erase_if(recent, [&](const Refused& one) { return now - one.last >= kLately; });
  return recent;
}

}  // namespace proxy::observe
