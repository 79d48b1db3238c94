// The pattern of a purge of many URLs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "proxy/policy/host_pattern.hpp"

namespace proxy {

// Covers every URL that begins with a prefix, or every URL of some hosts, in both key spaces:
// forward and reverse (Request::stored_as). Pure; any thread.
class PurgePattern {
 public:
  // `prefix` is canonical, as http::Target spells URLs; it is compared byte for byte.
  explicit PurgePattern(std::string prefix) : what_(std::move(prefix)) {}
  explicit PurgePattern(HostPattern hosts) : what_(std::move(hosts)) {}

  // `name`: the name under which a response is stored.
  [[nodiscard]] bool covers(std::string_view name) const;

  // The pattern as text for the disk: the prefix, or "host:" and the host. No URL begins with
  // "host:". of_text() reads the text back. It reads a text that text() cannot write as a pattern
  // that covers everything.
  [[nodiscard]] std::string text() const;
  static PurgePattern of_text(std::string_view text);
  // Returns covers() of the pattern that of_text() reads.
  static std::function<bool(std::string_view name)> reading(std::string_view text);

  bool operator==(const PurgePattern&) const = default;

 private:
  std::variant<std::string, HostPattern> what_;
};

}  // namespace proxy
