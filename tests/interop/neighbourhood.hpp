// For both directions: many URLs of one origin, and the digest that a proxy serves.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "digest/squid_digest.hpp"
#include "tests/support/await.hpp"
#include "tests/support/client.hpp"
#include "tests/support/proxy_process.hpp"
#include "tests/support/scripted_origin.hpp"
#include "tests/support/squid_process.hpp"

namespace interop {

using namespace support;

// An origin of cacheable pages that all differ.
struct Origin : ScriptedOrigin {
  Origin() {
    // Without a Date, Squid ignores max-age when it builds its digest.
    otherwise([](const Request& request) {
      return cacheable("page " + request.path, "max-age=86400").with("Date", http_date());
    });
  }
  std::vector<std::string> urls(const std::string& kind, std::size_t count) const {
    std::vector<std::string> urls;
    for (std::size_t i = 0; i < count; ++i)
      urls.push_back(url("/" + kind + "/" + std::to_string(i)));
    return urls;
  }
};

// Requests all URLs through the proxy on this port. Throws if a response is wrong.
inline void get_all(std::uint16_t port, const std::vector<std::string>& urls) {
  Client client(port);
  for (const std::string& url : urls) {
    const Response response = client.get(url);
    if (response.status != 200 || response.body != "page " + path_of(url)) {
      throw std::runtime_error(url + " was answered by " + response.start_line);
    }
  }
}

// The digest that the proxy on this port serves; none while it has none.
inline std::optional<digest::SquidDigest> served_digest(std::uint16_t port) {
  Client client(port);
  client.send(origin_form_text("127.0.0.1:" + std::to_string(port), "GET",
                               "/squid-internal-periodic/store_digest"));
  const Response response = client.read();
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(response.body.data());
  auto decoded = digest::decode({bytes, response.body.size()});
  if (response.status != 200 || !decoded) return std::nullopt;
  return *decoded;
}

inline bool claims(const digest::SquidDigest& digest, const std::string& url) {
  return digest.filter.contains(digest::key_of(digest::Method::get, url));
}

// How many of the URLs have a line in the log for which `matches` is true.
template <class Matches>
std::size_t logged(const std::vector<LogLine>& log, const std::vector<std::string>& urls,
                   Matches matches) {
  const std::set<std::string> wanted(urls.begin(), urls.end());
  std::set<std::string> found;
  for (const LogLine& line : log) {
    if (wanted.count(line.url) > 0 && matches(line)) found.insert(line.url);
  }
  return found.size();
}

inline bool by_digest(const LogLine& line) {
  return line.hierarchy == "CD_SIBLING_HIT" && line.from == "127.0.0.1";
}

}  // namespace interop
