// Hosts as the settings name them, compared with hosts as requests name them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/endpoint.hpp"

namespace proxy {

// "www.example.com" is itself, "*.example.com" all below it, "*" every host; with a port only
// there. Pure.
class HostPattern {
 public:
  explicit HostPattern(const config::HostSpec& written);

  // A host as http::Target tells it, and its port.
  [[nodiscard]] bool matches(std::string_view host, std::uint16_t port) const;

  // As the settings would name it: config::parse_host_pattern() reads it.
  [[nodiscard]] std::string text() const;

  bool operator==(const HostPattern&) const = default;

 private:
  std::string host_;  // "*.example.com" is ".example.com" here, "*" is ""
  bool exact_;
  std::optional<std::uint16_t> port_;
};

// How requests spell such a host (addresses have many forms): "*.example.com" becomes
// ".example.com", and "*" becomes "".
std::string canonical_pattern(const std::string& host);

}  // namespace proxy
