#include "proxy/mirrors/mirrored_url.hpp"

#include <algorithm>

#include "proxy/http/host_pattern.hpp"
#include "proxy/http/text.hpp"

namespace proxy::mirrors {
namespace {

constexpr std::string_view kHttps = "/https/";
constexpr std::string_view kHttp = "/http/";

// Whether the text has the byte of this code ("2f") in percent-encoding.
bool has_encoded(std::string_view text, std::string_view code) {
  for (auto at = text.find('%'); at != text.npos; at = text.find('%', at + 1)) {
    if (http::same_word(text.substr(at + 1, 2), code)) return true;
  }
  return false;
}

// A second decoding makes a NUL of "%2500".
bool has_nul(std::string_view text) {
  if (has_encoded(text, "00")) return true;
  for (auto at = text.find("%25"); at != text.npos; at = text.find("%25", at + 1)) {
    if (text.substr(at + 3, 2) == "00") return true;
  }
  return false;
}

// Whether the segment is "." or "..", in any encoding.
bool is_dots(std::string_view segment) {
  std::size_t dots = 0;
  while (!segment.empty()) {
    const bool is_encoded = http::same_word(segment.substr(0, 3), "%2e");
    if (!is_encoded && segment.front() != '.') return false;
    segment.remove_prefix(is_encoded ? 3 : 1);
    ++dots;
  }
  return dots == 1 || dots == 2;
}

// Whether a segment of the path is "." or "..". An encoded slash ends a segment, too.
bool has_dot_segment(std::string_view path) {
  for (;;) {
    auto end = std::min(path.find('/'), path.size());
    auto next = std::min(end + 1, path.size());
    const auto part = path.substr(0, end);  // no search goes past it
    for (auto at = part.find('%'); at != part.npos; at = part.find('%', at + 1)) {
      if (!http::same_word(path.substr(at, 3), "%2f")) continue;
      end = at;
      next = at + 3;
      break;
    }
    if (is_dots(path.substr(0, end))) return true;
    if (end == path.size()) return false;
    path.remove_prefix(next);
  }
}

bool is_read_one_way(std::string_view path, std::string_view query) {
  return path.find('\\') == path.npos && query.find('\\') == query.npos && !has_nul(path) &&
         !has_nul(query) && http::is_well_encoded(path) && !has_encoded(path, "5c") &&
         !has_dot_segment(path);
}

}  // namespace

bool is_mirror_path(std::string_view path) {
  return path.starts_with(kHttps) || path.starts_with(kHttp);
}

std::string_view digest_front(std::string_view path) {
  constexpr std::string_view kShort = "/sha256/";
  constexpr std::string_view kLong = "/sha512/";
  const bool is_short = path.starts_with(kShort);
  if (!is_short && !path.starts_with(kLong)) return {};
  const auto front = path.substr(0, kShort.size() + (is_short ? 64 : 128));
  const auto digits = front.substr(kShort.size());
  const bool has_all = digits.size() == (is_short ? 64 : 128) && http::all(http::kHex, digits);
  return has_all && is_mirror_path(path.substr(front.size())) ? front : std::string_view();
}

// The query stays: a slash in it separates nothing.
std::string with_plain_slashes(std::string_view path) {
  std::string plain;
  const auto end = std::min(path.find('?'), path.size());
  for (std::size_t at = 0; at < end; ++at) {
    const bool is_slash = at + 3 <= end && http::same_word(path.substr(at, 3), "%2f");
    plain += is_slash ? '/' : path[at];
    if (is_slash) at += 2;
  }
  return plain.append(path.substr(end));
}

std::optional<http::Target> mirrored_url(std::string_view path) {
  const bool https = path.starts_with(kHttps);
  if (!https && !path.starts_with(kHttp)) return std::nullopt;
  const auto rest = path.substr(https ? kHttps.size() : kHttp.size());
  const auto query_at = std::min(rest.find('?'), rest.size());
  if (!is_read_one_way(rest.substr(0, query_at), rest.substr(query_at))) return std::nullopt;
  auto url = http::parse_target("GET", std::string(https ? "https://" : "http://").append(rest));
  if (!url || url->had_userinfo()) return std::nullopt;
  return std::move(*url);
}

bool has_encoded_slash(const http::Target& url) {
  const auto path = url.asked_path();
  return has_encoded(path.substr(0, path.find('?')), "2f");
}

MirroredHosts::MirroredHosts(std::span<const config::HostSpec> listed) {
  for (const auto& [host, port] : listed) {
    hosts_.emplace(http::canonical_pattern(host), port.value_or(0));
  }
}

bool MirroredHosts::have(const http::Target& url) const {
  const auto pattern = http::one_label_pattern(url.host());
  return have(url.host(), url) || (!pattern.empty() && have(pattern, url));
}

bool MirroredHosts::have(std::string_view host, const http::Target& url) const {
  const auto lists = [&](std::uint16_t port) { return hosts_.contains({std::string(host), port}); };
  const bool is_standard = url.port() == (url.https() ? 443 : 80);
  return lists(url.port()) || (is_standard && lists(0));
}

}  // namespace proxy::mirrors
