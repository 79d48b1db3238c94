// The target of a request in its four forms (RFC 9112 3.2), and its canonical URL, from which the
// keys of the cache and of peers' digests are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/http/head_error.hpp"

namespace proxy::http {

inline constexpr std::size_t kMaxUrl = 8191;  // Squid's limit; a longer URL could not be shared

// The canonical URL has Squid's spelling, so that Squid and Hearsay compute the same key. Scheme
// and host are in lower case; the host's trailing dots, the default port and userinfo are dropped;
// numeric hosts are rewritten (127.1 is 127.0.0.1; IPv6 compressed in brackets, IPv4-mapped as
// IPv4); an empty path becomes "/". From the first "/" or "?" on, bytes above 127 are
// percent-encoded (RFC 3986 2.1), in the URL and in the request alike, so that one URL has one name
// however a client writes it. All other bytes are kept: also those that RFC 3986 does not allow in
// a path but that browsers and curl send (`|`, `{`). Controls, spaces and `#` are refused.
//
// In the path of an https URL, percent-encodings are normalized, too: those of letters, digits and
// -._~ (RFC 3986 6.2.2.2) and of + @ : are decoded, and the digits of all others are in upper case.
// So a file of a package, torch-2.4.0%2Bcu121, has one name. The origin gets the client's spelling.
// An origin that has two responses for `+` and `%2B`, `@` and `%40`, or `:` and `%3A` (RFC 3986 2.2
// allows it) thus gives either of them to clients of both.
class Target {
 public:
  enum class Form : std::uint8_t { origin, absolute, authority, asterisk };

  Target() = default;
  // `memory`: a string that is no longer needed, such as the URL of an earlier target.
  // parse_target() writes the URL there.
  explicit Target(std::string&& memory) : url_(std::move(memory)) {}

  Form form() const { return form_; }
  std::string_view scheme() const { return https_ ? "https" : "http"; }
  bool https() const { return https_; }
  // The host, IPv6 without brackets. Empty if an origin-form request of HTTP/1.0 named none.
  std::string_view host() const;
  std::uint16_t port() const { return port_; }  // the scheme's default if none was given
  // host[:port] in the form of a Host field: IPv6 in brackets, no default port. For authority-form
  // always with the port.
  std::string_view authority() const;
  // Path and query as in url(); "*" for asterisk-form and for OPTIONS without a path (RFC 9112
  // 3.2.4); empty for authority-form.
  std::string_view path() const;
  // The path in the client's spelling, for the request line in origin-form.
  std::string_view asked_path() const { return asked_.empty() ? path() : asked_; }
  // Whether the URL had userinfo before the host, which no link should have (RFC 9110 4.2.4).
  bool had_userinfo() const { return had_userinfo_; }
  // The canonical URL; for authority-form host:port; for origin-form without Host only the path.
  const std::string& url() const& { return url_; }
  // Gives up the URL, for its memory.
  std::string&& url() && { return std::move(url_); }

 private:
  friend class TargetParser;

  std::string url_;
  std::string asked_;  // path and query, if the URL spells them otherwise; else empty
  std::uint32_t authority_at_ = 0;
  std::uint32_t host_size_ = 0;  // including brackets
  std::uint32_t path_at_ = 0;
  std::uint16_t port_ = 80;
  Form form_ = Form::origin;
  bool https_ = false;
  bool server_wide_ = false;
  bool had_userinfo_ = false;
};

// `host` is the value of the Host field. It only matters for origin- and asterisk-form;
// absolute-form overrides it (RFC 9112 3.2.2). CONNECT takes authority-form and nothing else does;
// only OPTIONS takes asterisk-form.
HeadResult<Target> parse_target(std::string_view method, std::string_view target,
                                std::string_view host = {});
// Parses into `into`, which spares a copy. After a failure, `into` has no meaning.
HeadResult<void> parse_target(std::string_view method, std::string_view target,
                              std::string_view host, Target& into);

// Whether this is a valid value of a Host field: a name that could be resolved, or an address, with
// or without a port.
bool valid_host(std::string_view value);

// Path and query as the canonical URL spells them.
std::string canonical_path(std::string_view path);

// Appends the host of a URL as the canonical URL spells it. IPv6 is in brackets.
HeadResult<void> append_canonical_host(std::string& out, std::string_view host);

// The target of a URI reference in a response to `base`: `reference` is an absolute URL or a
// relative one, joined with the client's spelling of the path. Removes dot segments, drops the
// fragment and makes the URL canonical like every Target. An error if the result is not an http or
// https URL.
HeadResult<Target> resolve(const Target& base, std::string_view reference);

// Whether scheme, host and port are the same (RFC 9110 4.3.1).
bool same_origin(const Target& a, const Target& b);

}  // namespace proxy::http
