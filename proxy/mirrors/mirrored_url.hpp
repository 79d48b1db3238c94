// Paths of this proxy that stand for URLs of other servers, and the hosts that they may name.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "config/settings.hpp"
#include "proxy/http/target.hpp"

namespace proxy::mirrors {

// Whether the path of a request stands for a URL of another server, or why it does not.
enum class Mirrored : std::uint8_t {
  no,          // the path is no such path
  yes,         // the target is the URL that the path stands for
  bad_path,    // the path stands for no URL, or for one that servers may read in several ways
  not_listed,  // the setting mirrors.hosts lacks the host
  absent,      // the recipe leaves the URL out
  bad_method,  // not a plain GET or HEAD, nor PURGE, which is for us
};

// Whether the path, with or without a query, begins with "/https/" or "/http/".
bool is_mirror_path(std::string_view path);

// The part "/sha256/HEX" or "/sha512/HEX" at the front of a path, if the rest is_mirror_path(): the
// digest that the client expects of the body of the URL. Empty: there is none.
std::string_view digest_front(std::string_view path);
// The path with each encoded slash as a plain one. The query stays.
std::string with_plain_slashes(std::string_view path);

// The URL that such a path stands for: "/https/HOST[:PORT]/PATH" for "https://HOST[:PORT]/PATH".
// Nothing if the host is none or has a user before it, or if the path has a dot segment, a
// backslash or a NUL, encoded or not, or a "%" that encodes nothing: servers read those in
// different ways. The query may have all of these but a NUL and a backslash. An encoded slash is
// for the caller to judge (has_encoded_slash()).
std::optional<http::Target> mirrored_url(std::string_view path);
// Whether the path of such a URL has an encoded slash, which most servers read as a plain one.
bool has_encoded_slash(const http::Target& url);

// The setting mirrors.hosts, and each host that it lists as requests spell it. Immutable.
class MirroredHosts {
 public:
  explicit MirroredHosts(std::span<const config::HostSpec> listed);

  [[nodiscard]] bool empty() const { return hosts_.empty(); }
  // A host that is listed without a port is meant at the standard port of the URL's scheme.
  // "*.example.com" has the names with one label more than example.com.
  [[nodiscard]] bool have(const http::Target& url) const;

 private:
  [[nodiscard]] bool have(std::string_view host, const http::Target& url) const;

  // With the port, of which 0 is the standard one. "*.example.com" is ".example.com" here.
  std::set<std::pair<std::string, std::uint16_t>, std::less<>> hosts_;
};

}  // namespace proxy::mirrors
