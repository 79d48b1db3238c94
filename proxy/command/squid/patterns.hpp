// Regular expressions over URLs and hosts as the settings write them: hosts and globs of paths.
// Pure; safe on any bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proxy::command::squid {

struct UrlPattern {
  std::string host;  // as in the setting `host` of a rule: "*", "example.com", "*.example.com"
  std::string path;  // a glob over the path; empty: any

  bool operator==(const UrlPattern&) const = default;
};

using UrlPatterns = std::vector<UrlPattern>;

// Translates an expression over whole URLs, as in refresh_pattern and url_regex. Together, the
// patterns match the same http and https URLs as the expression. Empty: the expression is for other
// schemes, such as ftp. Nothing if the settings cannot say it.
std::optional<UrlPatterns> url_patterns_of(std::string_view expression);

// Translates an expression over path and query, as in urlpath_regex.
std::optional<UrlPatterns> path_patterns_of(std::string_view expression);

// The hosts of an expression over hosts, as in dstdom_regex. Empty unless the settings can say
// exactly the same.
std::vector<std::string> hosts_of(std::string_view expression);

// ".example.com" of a dstdomain is "example.com" and "*.example.com". Empty: no such host.
std::vector<std::string> hosts_of_domain(std::string_view domain);

}  // namespace proxy::command::squid
