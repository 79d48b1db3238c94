// Which URLs a purge of many covers.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "proxy/request/host_pattern.hpp"

namespace proxy {

// Covers every URL that begins with a prefix, or every URL of some hosts, in both key spaces:
// forward and reverse (Request::stored_as). Pure; any thread.
class PurgePattern {
 public:
  // `prefix` is canonical, as http::Target spells URLs; it is compared byte for byte.
  explicit PurgePattern(std::string prefix) : what_(std::move(prefix)) {}
  explicit PurgePattern(HostPattern hosts) : what_(std::move(hosts)) {}

  // `name`: what a response is stored as.
  [[nodiscard]] bool covers(std::string_view name) const;

  // For the disk: the prefix, or "host:", which no URL begins with, and the host. of_text() reads
  // it back. A text that text() never wrote covers everything.
  [[nodiscard]] std::string text() const;
  static PurgePattern of_text(std::string_view text);
  // covers() of the pattern that of_text() reads.
  static std::function<bool(std::string_view name)> reading(std::string_view text);

  bool operator==(const PurgePattern&) const = default;

 private:
  std::variant<std::string, HostPattern> what_;
};

}  // namespace proxy
