// Which of the site's Hearsays fetches a key. A header of its own: the simulation of a mesh uses it
// without Asio, which fills need.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "config/expiring_table.hpp"
#include "digest/key.hpp"
#include "peers/site.hpp"
#include "peers/threads/mutex.hpp"

namespace proxy::fill {

// Which neighbour is fetching what, as far as the neighbours have told this proxy: see
// peers/site.hpp. Any thread.
class SiteFetches {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // A neighbour counts as the fetcher of a key for this long, because a large body may take that
  // long. If the neighbour has nothing to give, a request that was sent there has asked one
  // question in vain.
  static constexpr std::chrono::seconds kKept{30};
  static constexpr std::size_t kMost = 4096;

  // Returns the proxy that fetches the key. If none is known, remembers and returns `asker`.
  peers::Epoch enter(const digest::Key& key, peers::Epoch asker, Time now) {
    const threads::MutexLock lock(mutex_);
    if (const auto* const known = fetches_.find(key, now)) return *known;
    fetches_.put(key, asker, now + kKept);
    return asker;
  }
  // Who fetches the key; nothing if nobody is known to.
  std::optional<peers::Epoch> fetcher_of(const digest::Key& key, Time now) {
    const threads::MutexLock lock(mutex_);
    const auto* const known = fetches_.find(key, now);
    return known ? std::optional(*known) : std::nullopt;
  }

 private:
  threads::Mutex mutex_;
  config::ExpiringTable<digest::Key, peers::Epoch, digest::KeyHash> fetches_ GUARDED_BY(mutex_){
      kMost};
};

}  // namespace proxy::fill
