// What a request asks for: the request target in its four forms (RFC 9112 3.2), and its canonical
// URL, which is the cache's key and the one that peers put in their digests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/head_error.hpp"

namespace proxy::http {

inline constexpr std::size_t kMaxUrl = 8191;  // Squid's bound; a longer one could not be shared

// Canonical as Squid spells it, so that both compute one key: scheme and host in lower case, the
// host's trailing dots, the default port and userinfo dropped, numeric hosts re-printed (127.1 is
// 127.0.0.1; IPv6 compressed in brackets, IPv4-mapped as IPv4), an empty path "/", and everything
// from the first "/" or "?" kept byte for byte. Bytes that RFC 3986 does not allow in a path but
// browsers and curl send
// (`|`, `{`, UTF-8) are passed on untouched; controls, spaces and `#` are refused.
class Target {
 public:
  enum class Form : std::uint8_t { origin, absolute, authority, asterisk };

  Form form() const { return form_; }
  std::string_view scheme() const { return https_ ? "https" : "http"; }
  bool https() const { return https_; }
  // Empty when an origin-form request of HTTP/1.0 named none. IPv6 without its brackets.
  std::string_view host() const;
  std::uint16_t port() const { return port_; }  // the scheme's default where none was given
  // host[:port] as a Host field says it: brackets around IPv6, no default port. For authority-form
  // always with the port.
  std::string_view authority() const;
  // Path and query for an origin-form request line; "*" for asterisk-form and for OPTIONS without
  // a path (RFC 9112 3.2.4); empty for authority-form.
  std::string_view path() const;
  // Whether a user stood before the host: what a link should not have (RFC 9110 4.2.4).
  bool had_userinfo() const { return had_userinfo_; }
  // The canonical URL; for authority-form host:port; for an origin-form without Host just the path.
  const std::string& url() const { return url_; }

 private:
  friend class TargetParser;

  std::string url_;
  std::uint32_t authority_at_ = 0;
  std::uint32_t host_size_ = 0;  // brackets included
  std::uint32_t path_at_ = 0;
  std::uint16_t port_ = 80;
  Form form_ = Form::origin;
  bool https_ = false;
  bool server_wide_ = false;
  bool had_userinfo_ = false;
};

// `host` is the Host field's value and counts for origin- and asterisk-form only (absolute-form
// wins, RFC 9112 3.2.2). Authority-form is for CONNECT and nothing else is; asterisk-form for
// OPTIONS.
HeadResult<Target> parse_target(std::string_view method, std::string_view target,
                                std::string_view host = {});

// Whether that is a valid value of a Host field: a name that could be resolved or an address, with
// or without a port.
bool valid_host(std::string_view value);

// The host of a URL, IPv6 in brackets, as the canonical URL spells it.
HeadResult<void> append_canonical_host(std::string& out, std::string_view host);

}  // namespace proxy::http
