// Which neighbour is fetching what, as far as the neighbours have told this proxy: see
// peers/site.hpp.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

#include "digest/key.hpp"
#include "digest/little_endian.hpp"
#include "peers/site.hpp"
#include "peers/threads/mutex.hpp"

namespace proxy {

// A table of fixed size: a fetch may take the place of another. Any thread.
class SiteFetches {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // So long a neighbour counts as the fetcher. A large body may take that long. To name a neighbour
  // that has nothing costs the asker one question.
  static constexpr std::chrono::seconds kKept{30};
  static constexpr std::size_t kMost = 4096;

  // Who fetches the key: from now on `asker`, if nobody was known to.
  peers::Epoch enter(const digest::Key& key, peers::Epoch asker, Time now) {
    const threads::MutexLock lock(mutex_);
    Fetch& fetch = place_of(key);
    if (fetch.key == key && now < fetch.until) return fetch.fetcher;
    fetch = {key, asker, now + kKept};
    return asker;
  }
  // Who fetches the key; nothing if nobody is known to.
  std::optional<peers::Epoch> fetcher_of(const digest::Key& key, Time now) {
    const threads::MutexLock lock(mutex_);
    const Fetch& fetch = place_of(key);
    return fetch.key == key && now < fetch.until ? std::optional(fetch.fetcher) : std::nullopt;
  }

 private:
  struct Fetch {
    digest::Key key{};
    peers::Epoch fetcher = 0;
    Time until = Time::min();
  };
  Fetch& place_of(const digest::Key& key) REQUIRES(mutex_) {
    return fetches_[digest::load64(key.bytes.data()) % kMost];
  }

  threads::Mutex mutex_;
  std::array<Fetch, kMost> fetches_ GUARDED_BY(mutex_){};
};

}  // namespace proxy
