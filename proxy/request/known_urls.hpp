// All the URLs that a site has, as far as its operator lists them.
#pragma once

#include <istream>
#include <string>
#include <string_view>

#include "digest/blocked_filter.hpp"
#include "proxy/http/target.hpp"

namespace proxy {

// A filter of about 3 bytes per URL: a listed URL is always found, and a share kRate of the
// unlisted ones is found too. Any thread.
class KnownUrls {
 public:
  static constexpr double kRate = 1e-4;

  // One URL a line, whole or from its path on ("/x", under whatever host); the query is part of it.
  // Empty lines and those that begin with `#` are skipped. Reads twice, to know the size. Throws
  // std::runtime_error with the line and what is wrong with it.
  explicit KnownUrls(std::istream& lines);
  // The same for a file, whose path then begins the text of an error.
  static KnownUrls of_file(const std::string& path);

  // Whether the URL may be listed. https and http count as one, as the clients' TLS does not end
  // here.
  bool may_have(const http::Target& target) const;

 private:
  digest::BlockedFilter filter_;
};

}  // namespace proxy
