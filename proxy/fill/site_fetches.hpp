// What the site's Hearsays fetch once for all: who fetches a key, and which paths are not worth
// asking for. A header of its own: the simulation of a mesh uses it without Asio, which fills need.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "config/expiring_table.hpp"
#include "digest/key.hpp"
#include "digest/keyed_hash.hpp"
#include "peers/site.hpp"
#include "peers/threads/mutex.hpp"

namespace proxy::fill {

// Which paths of the origins mostly give responses that no neighbour may have. A URL belongs to its
// folder or, if it has a query, to its path. Only the head of an answer shows whether it may be
// shared, so a proxy that has waited in vain for another one's fetch has lost the origin's time.
// Any thread.
class UnsharedPaths {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Answer : std::uint8_t { unshared, shared };

  static constexpr std::size_t kMost = 4096;
  static constexpr std::chrono::minutes kKept{10};  // after the latest answer

  void record(std::string_view url, Answer answer, Time now) {
    const auto key = key_of(url);
    const threads::MutexLock lock(mutex_);
    const auto* const known = latest_.find(key, now);
    const unsigned before = known ? *known : kUnknown;
    const auto latest = static_cast<std::uint8_t>(before << 1U | static_cast<unsigned>(answer));
    latest_.put(key, latest, now + kKept);
  }
  // Whether at most one of the path's eight latest answers could be shared. Three answers are
  // enough to begin with, and two that could be shared end it.
  [[nodiscard]] bool has(std::string_view url, Time now) const {
    const auto key = key_of(url);
    const threads::MutexLock lock(mutex_);
    const auto* const latest = latest_.find(key, now);
    return latest && std::popcount(*latest) <= 1;
  }

 private:
  // Eight answers, the latest in the lowest bit, by the value of Answer.
  static constexpr unsigned kUnknown = 0b1111'0000;

  // The hash is keyed, so that nobody can find a path with the hash of another one.
  static std::uint64_t key_of(std::string_view url) {
    const auto query = url.find('?');
    const auto end = query != std::string_view::npos ? query : url.rfind('/');
    return digest::TextHash{}(url.substr(0, end));
  }

  mutable threads::Mutex mutex_;
  config::ExpiringTable<std::uint64_t, std::uint8_t> latest_ GUARDED_BY(mutex_){kMost};
};

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

  // After this long, a fetch has mostly ended.
  static constexpr std::chrono::seconds kEnds{1};

  // Returns the proxy that fetches the key. If no such proxy is known, or if the asker has given it
  // up, the asker is remembered and returned. After kEnds the asker is remembered, too: it asks the
  // proxy that is returned, which mostly has nothing by then, and fetches.
  peers::Epoch enter(const digest::Key& key, peers::Epoch asker, Time now,
                     const peers::SiteQuestion::GivenUp& given_up = {}) {
    const threads::MutexLock lock(mutex_);
    const auto* const known = fetches_.find(key, now);
    const bool is_there =
        known && std::find(given_up.begin(), given_up.end(), known->member) == given_up.end();
    const auto fetcher = is_there ? known->member : asker;
    if (!is_there || now - known->since >= kEnds) fetches_.put(key, {asker, now}, now + kKept);
    return fetcher;
  }

  // Who fetches the key; nothing if nobody is known to.
  std::optional<peers::Epoch> fetcher_of(const digest::Key& key, Time now) {
    const threads::MutexLock lock(mutex_);
    const auto* const known = fetches_.find(key, now);
    return known ? std::optional(known->member) : std::nullopt;
  }

 private:
  struct Fetcher {
    peers::Epoch member = 0;
    Time since{};
  };

  threads::Mutex mutex_;
  config::ExpiringTable<digest::Key, Fetcher, digest::KeyHash> fetches_ GUARDED_BY(mutex_){kMost};
};

}  // namespace proxy::fill
