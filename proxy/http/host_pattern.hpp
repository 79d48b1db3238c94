// Hosts as the settings name them, compared with hosts as requests name them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/endpoint.hpp"

namespace proxy {

// A name matches itself, "*.example.com" matches the hosts below example.com, and "*" matches every
// host. A pattern with a port matches only that port. Pure.
class HostPattern {
 public:
  explicit HostPattern(const config::HostSpec& written);

  // `host` is spelled as http::Target::host() does.
  [[nodiscard]] bool matches(std::string_view host, std::uint16_t port) const;

  // The pattern as the settings would spell it: config::parse_host_pattern() reads it.
  [[nodiscard]] std::string text() const;

  bool operator==(const HostPattern&) const = default;

 private:
  std::string host_;  // "*.example.com" is ".example.com" here, "*" is ""
  bool exact_;
  std::optional<std::uint16_t> port_;
};

// The host as requests spell it, since addresses have many forms. "*.example.com" becomes
// ".example.com", and "*" becomes "".
std::string canonical_pattern(const std::string& host);

}  // namespace proxy
