// The pattern of a purge of many URLs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "proxy/cache/giver.hpp"
#include "proxy/policy/host_pattern.hpp"

namespace proxy {

// Covers every URL that begins with a prefix, or every URL of some hosts, in both key spaces:
// forward and reverse (Request::stored_as). Or covers everything that a neighbour gave. Pure; any
// thread.
class PurgePattern {
 public:
  // `prefix` is canonical, as http::Target spells URLs; it is compared byte for byte.
  explicit PurgePattern(std::string prefix) : what_(std::move(prefix)) {}
  explicit PurgePattern(HostPattern hosts) : what_(std::move(hosts)) {}
  // `giver`: the neighbour, which must have a tag.
  explicit PurgePattern(cache::Giver giver) : what_(giver) {}

  // `name`: the name under which a response is stored. `giver`: the tag of its giver.
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
  std::variant<std::string, HostPattern, cache::Giver> what_;
};

}  // namespace proxy
