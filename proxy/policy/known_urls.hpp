// The list of all URLs of a site, which its operator supplies.
#pragma once

#include <istream>
#include <string>
#include <string_view>

#include "digest/blocked_filter.hpp"
#include "proxy/http/target.hpp"

namespace proxy::policy {

// A filter of about 3 bytes per URL: a listed URL is always found, and a share kRate of the
// unlisted ones is found too. Any thread.
class KnownUrls {
 public:
  static constexpr double kRate = 1e-4;

  // Each line is a whole URL, or a path with its query. A path is known under every host. Empty
  // lines and lines that begin with `#` are skipped. Reads `lines` twice, first to count them.
  // Throws std::runtime_error with the number and the fault of a bad line.
  explicit KnownUrls(std::istream& lines);
  // Reads a file. The text of an error begins with its path.
  static KnownUrls of_file(const std::string& path);

  // Whether the URL may be listed. Ignores the scheme, because a TLS server in front of this proxy
  // turns https into http.
  bool may_have(const http::Target& target) const;

 private:
  digest::BlockedFilter filter_;
};

}  // namespace proxy::policy
