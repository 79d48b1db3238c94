#include "proxy/http/target.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>

#include "config/networks.hpp"
#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

constexpr std::size_t kMaxHostName = 253;  // RFC 1035 2.3.4, as text without the final dot

struct HostPort {
  std::string_view host;  // including brackets
  std::optional<std::uint16_t> port;
};

// The port of ":8080", as the canonical URL spells it. Nothing for any other text.
std::optional<std::uint64_t> canonical_port(std::string_view text) {
  constexpr std::uint64_t kStandard = 80;
  if (text.size() < 2 || text.front() != ':' || text[1] == '0') return std::nullopt;
  const auto port = parse_decimal(text.substr(1));
  return port && *port <= 65535 && *port != kStandard ? port : std::nullopt;
}

// Splits host [":" [port]] (RFC 3986 3.2.2 and 3.2.3). Does not check the host.
HeadResult<HostPort> split_port(std::string_view authority) {
  HostPort result;
  std::size_t end = authority.find(':');
  if (authority.substr(0, 1) == "[") {
    end = authority.find(']');
    if (end == std::string_view::npos) return HeadError::bad_host;
    ++end;
  }
  result.host = authority.substr(0, end);
  if (end >= authority.size()) return result;
  if (authority[end] != ':') return HeadError::bad_host;
  const std::string_view digits = authority.substr(end + 1);
  if (digits.empty()) return result;
  const auto port = parse_decimal(digits);
  if (!port || *port == 0 || *port > 65535) return HeadError::bad_host;
  result.port = static_cast<std::uint16_t>(*port);
  return result;
}

// Whether the last label of a name makes it an address, such as 127.1 or 0x7f000001. No top-level
// domain is a number.
// The URL standard of browsers (WHATWG, 3.5) calls such a host IPv4, so that access rules have to
// see the address.
bool ends_in_number(std::string_view name) {
  const std::string_view label = name.substr(name.rfind('.') + 1);
  if (label.size() >= 2 && label[0] == '0' && lower(label[1]) == 'x')
    return all(kHex, label.substr(2));
  return all(kDigit, label);
}

HeadResult<void> append_ipv4(std::string& out, std::string_view host) {
  if (config::parse_dotted_quad(host)) {  // nearly always, and far cheaper
    out += host;
    return {};
  }
  in_addr address{};
  char text[INET_ADDRSTRLEN];
  // As resolvers read it: 127.1, 0x7f.1 and 2130706433 are all 127.0.0.1.
  if (!inet_aton(std::string(host).c_str(), &address)) return HeadError::bad_host;
  out += inet_ntop(AF_INET, &address, text, sizeof text);
  return {};
}

HeadResult<void> append_ipv6(std::string& out, std::string_view bracketed) {
  in6_addr address{};
  char text[INET6_ADDRSTRLEN];
  const std::string digits(bracketed.substr(1, bracketed.size() - 2));
  if (inet_pton(AF_INET6, digits.c_str(), &address) != 1) return HeadError::bad_host;
  // One address must not have two names, of which an access rule knows one.
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    out += inet_ntop(AF_INET, &address.s6_addr[12], text, sizeof text);
    return {};
  }
  ((out += '[') += inet_ntop(AF_INET6, &address, text, sizeof text)) += ']';
  return {};
}

// Whether append_host() would append the host as it is. False for some that it would.
bool is_canonical_host(std::string_view host) {
  char before = '.';
  for (const char c : host) {
    const bool is_capital = c >= 'A' && c <= 'Z';
    if (!is(kHostChar, c) || is_capital || (c == '.' && before == '.')) return false;
    before = c;
  }
  if (before == '.' || host.size() > kMaxHostName) return false;
  return !ends_in_number(host) || config::parse_dotted_quad(host);
}

HeadResult<void> append_host(std::string& out, std::string_view host) {
  if (host.substr(0, 1) == "[") return append_ipv6(out, host);
  // A final dot makes a name absolute for the resolver, and is the same host (RFC 3986 3.2.2).
  while (!host.empty() && host.back() == '.') host.remove_suffix(1);
  if (host.empty() || host.size() > kMaxHostName || host.front() == '.' || !all(kHostChar, host) ||
      host.find("..") != std::string_view::npos)
    return HeadError::bad_host;
  if (ends_in_number(host)) return append_ipv4(out, host);
  const auto begin = static_cast<std::ptrdiff_t>(out.size());
  out += host;
  std::transform(out.begin() + begin, out.end(), out.begin() + begin,
                 [](char c) { return lower(c); });
  return {};
}

// RFC 9110 4.2.4: drops what precedes "@". A second "@" or a backslash is an attempt to mislead.
HeadResult<void> drop_userinfo(std::string_view& authority) {
  // The last one, as browsers do: what precedes it is then refused or dropped, never asked.
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return {};
  if (authority.substr(0, at).find_first_of("@[]\\<>\"") != std::string_view::npos)
    return HeadError::bad_target;
  authority.remove_prefix(at + 1);
  return {};
}

bool is_raw(char c) {
  return static_cast<unsigned char>(c) > 127;
}

void append_path(std::string& out, std::string_view path) {
  for (;;) {
    const auto raw = static_cast<std::size_t>(std::ranges::find_if(path, is_raw) - path.begin());
    out += path.substr(0, raw);
    if (raw == path.size()) return;
    append_percent_encoded(out, path[raw]);
    path.remove_prefix(raw + 1);
  }
}

bool has_scheme(std::string_view reference) {
  const std::size_t colon = reference.find(':');
  return colon != std::string_view::npos && colon < reference.find_first_of("/?");
}

// RFC 3986 5.2.4. `path` begins with a slash.
void append_without_dots(std::string& out, std::string_view path) {
  const std::size_t root = out.size();
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    const bool up = segment == "..";
    if (up && out.size() > root) out.resize(out.rfind('/'));
    if (!up && segment != ".") {
      (out += '/') += segment;
    } else if (path.empty()) {
      out += '/';
    }
  }
}

// Path and query of the result, including dot segments, for a reference without an authority.
std::string merged(std::string_view base, std::string_view reference) {
  if (reference.empty()) return std::string(base);
  if (reference.front() == '/') return std::string(reference);
  std::string_view path = base.substr(0, base.find('?'));
  if (reference.front() != '?') path = path.substr(0, path.rfind('/') + 1);
  return std::string(path).append(reference);
}

}  // namespace

class TargetParser {
 public:
  explicit TargetParser(Target& into) : result_(into) {
    result_ = Target(std::move(into.url_));
    result_.url_.clear();
  }

  HeadResult<void> parse(std::string_view method, std::string_view target, std::string_view host) {
    if (method != "CONNECT" && parse_canonical(target)) return finish({});
    if (target.empty() || !all(kTargetChar, target)) return HeadError::bad_target;
    if (method == "CONNECT") return finish(authority_form(target));
    if (target == "*") {
      if (method != "OPTIONS") return HeadError::bad_target;
      result_.form_ = Target::Form::asterisk;
      result_.server_wide_ = true;
      return finish(of_host(host, host.empty() ? "*" : "/"));
    }
    if (target.front() == '/') return finish(of_host(host, target));
    return finish(absolute_form(method, target));
  }

 private:
  HeadResult<void> finish(const HeadResult<void>& done) {
    const auto size = std::max(result_.url_.size(), result_.path_at_ + result_.asked_.size());
    if (done && size > kMaxUrl) return HeadError::target_too_long;
    return done;
  }

  HeadResult<void> of_host(std::string_view host, std::string_view path) {
    if (host.empty()) {
      append_path(result_.url_, path);
      return {};
    }
    return assemble(host, path);
  }

  // Takes a URL as it is, if that is its canonical form, as nearly always. Refuses some that are.
  bool parse_canonical(std::string_view url) {
    constexpr std::string_view kScheme = "http://";
    if (!url.starts_with(kScheme)) return false;
    const auto rest = url.substr(kScheme.size());
    const auto authority = rest.substr(0, rest.find('/'));
    if (authority.size() == rest.size()) return false;
    const auto host = authority.substr(0, authority.find(':'));
    const auto digits = authority.substr(host.size());
    const auto port = digits.empty() ? std::optional<std::uint64_t>(80) : canonical_port(digits);
    if (!port || !is_canonical_host(host)) return false;
    if (leading(kAsIsChar, rest.substr(authority.size())).size() + authority.size() < rest.size())
      return false;
    result_.form_ = Target::Form::absolute;
    result_.url_.reserve(url.size() + 10);  // for another URL of that size: see assemble()
    result_.url_ = url;
    result_.authority_at_ = kScheme.size();
    result_.host_size_ = static_cast<std::uint32_t>(host.size());
    result_.port_ = static_cast<std::uint16_t>(*port);
    result_.path_at_ = static_cast<std::uint32_t>(kScheme.size() + authority.size());
    return true;
  }

  HeadResult<void> absolute_form(std::string_view method, std::string_view target) {
    const std::size_t colon = target.find("://");
    if (colon == std::string_view::npos) return HeadError::bad_target;
    const std::string_view scheme = target.substr(0, colon);
    result_.form_ = Target::Form::absolute;
    // A WebSocket begins as a request for http or https (RFC 6455 4.1).
    result_.https_ = same_word(scheme, "https") || same_word(scheme, "wss");
    if (!result_.https_ && !same_word(scheme, "http") && !same_word(scheme, "ws"))
      return is_token(scheme) ? HeadError::unsupported_scheme : HeadError::bad_target;
    target.remove_prefix(colon + 3);
    const auto ends_authority = [](char c) { return c == '/' || c == '?'; };
    const auto end =
        static_cast<std::size_t>(std::ranges::find_if(target, ends_authority) - target.begin());
    std::string_view authority = target.substr(0, end);
    const std::size_t with_user = authority.size();
    if (auto dropped = drop_userinfo(authority); !dropped) return dropped;
    result_.had_userinfo_ = authority.size() < with_user;
    result_.server_wide_ = method == "OPTIONS" && end == target.size();
    return assemble(authority, target.substr(end));
  }

  HeadResult<void> authority_form(std::string_view target) {
    const auto parts = split_port(target);
    if (!parts) return parts.error();
    if (!parts->port) return HeadError::bad_target;
    result_.form_ = Target::Form::authority;
    return append_authority(*parts, 0);
  }

  HeadResult<void> assemble(std::string_view authority, std::string_view path) {
    const auto parts = split_port(authority);
    if (!parts) return parts.error();
    result_.url_.reserve(authority.size() + path.size() + 10);
    (result_.url_ = result_.scheme()) += "://";
    const std::uint16_t standard = result_.https_ ? 443 : 80;
    if (auto appended = append_authority(*parts, standard); !appended) return appended;
    if (path.empty() || path.front() != '/') result_.url_ += '/';
    append_path(result_.url_, path);
    if (result_.https_ && path.find('%') != path.npos) normalize();
    return {};
  }

  void normalize() {
    result_.asked_.assign(result_.url_, result_.path_at_);
    // Not those of the query, where "+" and "%2B" are not the same.
    normalize_encodings(result_.url_, result_.path_at_,
                        std::min(result_.url_.find('?', result_.path_at_), result_.url_.size()));
    if (result_.asked_ == result_.path()) result_.asked_.clear();
  }

  // Appends host[:port]. The port is left out if it is `standard`.
  HeadResult<void> append_authority(const HostPort& parts, std::uint16_t standard) {
    std::string& url = result_.url_;
    result_.authority_at_ = static_cast<std::uint32_t>(url.size());
    if (auto appended = append_host(url, parts.host); !appended) return appended;
    result_.host_size_ = static_cast<std::uint32_t>(url.size()) - result_.authority_at_;
    result_.port_ = parts.port.value_or(standard);
    if (result_.port_ != standard) append_decimal(url += ':', result_.port_);
    result_.path_at_ = static_cast<std::uint32_t>(url.size());
    return {};
  }

  Target& result_;
};

std::string_view Target::host() const {
  const std::string_view host = std::string_view(url_).substr(authority_at_, host_size_);
  return host.substr(0, 1) == "[" ? host.substr(1, host.size() - 2) : host;
}

std::string_view Target::authority() const {
  return std::string_view(url_).substr(authority_at_, path_at_ - authority_at_);
}

std::string_view Target::path() const {
  return server_wide_ ? std::string_view("*") : std::string_view(url_).substr(path_at_);
}

HeadResult<void> parse_target(std::string_view method, std::string_view target,
                              std::string_view host, Target& into) {
  return TargetParser(into).parse(method, target, host);
}

HeadResult<Target> parse_target(std::string_view method, std::string_view target,
                                std::string_view host) {
  HeadResult<Target> result{Target{}};
  if (auto parsed = parse_target(method, target, host, *result); !parsed) return parsed.error();
  return result;
}

bool valid_host(std::string_view value) {
  const auto parts = split_port(value);
  std::string canonical;
  return parts && append_host(canonical, parts->host).has_value();
}

std::string canonical_path(std::string_view path) {
  std::string canonical;
  append_path(canonical, path);
  return canonical;
}

HeadResult<void> append_canonical_host(std::string& out, std::string_view host) {
  return append_host(out, host);
}

HeadResult<Target> resolve(const Target& base, std::string_view reference) {
  reference = reference.substr(0, reference.find('#'));
  if (base.host().empty() || reference.size() > kMaxUrl) return HeadError::bad_target;
  std::string url;
  std::string path;
  if (has_scheme(reference) || reference.substr(0, 2) == "//") {
    const std::size_t slashes = reference.find("//");
    if (slashes == std::string_view::npos) return HeadError::bad_target;
    const std::size_t end = reference.find_first_of("/?", slashes + 2);
    if (slashes == 0) (url = base.scheme()) += ':';
    url += reference.substr(0, end);
    path = reference.substr(std::min(end, reference.size()));
  } else {
    (((url = base.scheme()) += "://") += base.authority());
    path = merged(base.asked_path(), reference);
  }
  if (path.empty() || path.front() != '/') path.insert(path.begin(), '/');
  const std::size_t query = std::min(path.find('?'), path.size());
  append_without_dots(url, std::string_view(path).substr(0, query));
  url.append(path, query);
  return parse_target("GET", url);
}

bool same_origin(const Target& a, const Target& b) {
  return a.https() == b.https() && a.port() == b.port() && a.host() == b.host();
}

}  // namespace proxy::http
