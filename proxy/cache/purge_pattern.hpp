// Purges of many URLs: their patterns, and the recent ones.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "proxy/cache/entry.hpp"
#include "proxy/http/host_pattern.hpp"

namespace proxy::cache {

// What a purge covers: every URL that begins with a prefix, every URL of some hosts, or everything
// that a neighbour gave. Covers the URLs of forward mode and of reverse mode alike. Pure; any
// thread.
class PurgePattern {
 public:
  // `prefix` is canonical, as http::Target spells URLs; it is compared byte for byte.
  explicit PurgePattern(std::string prefix) : what_(std::move(prefix)) {}
  explicit PurgePattern(http::HostPattern hosts) : what_(std::move(hosts)) {}
  // `giver`: the neighbour, which must have a tag.
  explicit PurgePattern(cache::Giver giver) : what_(giver) {}

  // Whether a URL that the pattern covers leads to a record of a digest is not known, so every
  // pattern but that of a neighbour covers all of them (Space::content).
  // `name`: an encoded StoredName. `giver`: the tag of the response's giver.
  [[nodiscard]] bool covers(std::string_view name, cache::GiverTag giver = 0) const;

  // Whether it covers what a neighbour gave. There are at most 127 such patterns.
  [[nodiscard]] bool is_by_giver() const { return std::holds_alternative<cache::Giver>(what_); }

  // The pattern as text for the disk: the prefix, or "host:" and the host, or "giver:" and the tag.
  // No URL begins with "host:" or "giver:". of_text() reads the text back. It reads a text that
  // text() cannot write as a pattern that covers everything.
  [[nodiscard]] std::string text() const;
  static PurgePattern of_text(std::string_view text);
  // Returns covers() of the pattern that of_text() reads.
  static std::function<bool(std::string_view name, cache::GiverTag giver)> reading(
      std::string_view text);

  bool operator==(const PurgePattern&) const = default;

 private:
  std::variant<std::string, http::HostPattern, cache::Giver> what_;
};

// Recent purges of many URLs. Bounded: the oldest are forgotten first. Not thread-safe.
class RecentPurges {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RecentPurges(std::size_t capacity) : capacity_(capacity) {}

  // Records a purge. A repeated purge replaces the earlier record.
  void remember(const PurgePattern& purge, Time now) {
    std::erase_if(purges_, [&](const Noted& noted) { return noted.purge == purge; });
    purges_.push_back({purge, now});
    if (purges_.size() <= capacity_) return;
    forgotten_ = std::max(forgotten_, purges_.front().when);
    purges_.pop_front();
  }

  // Whether a purge at `since` or later covers the name or the giver; also true if such a purge may
  // have been forgotten.
  [[nodiscard]] bool may_cover(std::string_view name, Time since, cache::GiverTag giver = 0) const {
    if (forgotten_ >= since) return true;
    return std::ranges::any_of(purges_, [&](const Noted& noted) {
      return noted.when >= since && noted.purge.covers(name, giver);
    });
  }

 private:
  struct Noted {
    PurgePattern purge;
    Time when;
  };

  const std::size_t capacity_;
  std::deque<Noted> purges_;  // oldest first, except purges that threads noted at the same time
  Time forgotten_ = Time::min();
};

}  // namespace proxy::cache
