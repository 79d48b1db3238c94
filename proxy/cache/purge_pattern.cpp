#include "proxy/cache/purge_pattern.hpp"

#include "proxy/cache/stored_name.hpp"
#include "proxy/http/text.hpp"

namespace proxy::cache {
namespace {

constexpr std::string_view kOfHost = "host:";
constexpr std::string_view kOfGiver = "giver:";
constexpr cache::GiverTag kLastTag = 127;

// Whether the URL is of these hosts. A canonical URL needs no strict parsing. A request of HTTP/1.0
// without a Host has only a path as its URL, and its host is "".
bool is_of(const http::HostPattern& hosts, std::string_view url) {
  const auto scheme_end = url.find("://");
  if (url.starts_with('/') || scheme_end == url.npos) return hosts.matches("", 80);
  const bool https = url.substr(0, scheme_end) == "https";
  url.remove_prefix(scheme_end + 3);
  auto host = url.substr(0, url.find('/'));
  std::uint64_t port = https ? 443 : 80;
  const auto colon = host.rfind(':');
  // The last colon of an IPv6 address in brackets is no port's.
  if (colon != host.npos && !host.ends_with(']')) {
    port = http::parse_decimal(host.substr(colon + 1)).value_or(port);
    host = host.substr(0, colon);
  }
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  return hosts.matches(host, static_cast<std::uint16_t>(port));
}

}  // namespace

bool PurgePattern::covers(std::string_view name, cache::GiverTag giver) const {
  if (const auto* by = std::get_if<cache::Giver>(&what_)) return by->tag == giver;
  const auto [space, url] = cache::StoredName::decode(name);
  if (space == Space::content) return true;
  if (const auto* prefix = std::get_if<std::string>(&what_)) return url.starts_with(*prefix);
  return is_of(std::get<http::HostPattern>(what_), url);
}

std::string PurgePattern::text() const {
  if (const auto* prefix = std::get_if<std::string>(&what_)) return *prefix;
  if (const auto* by = std::get_if<cache::Giver>(&what_)) {
    return std::string(kOfGiver) + std::to_string(by->tag);
  }
  return std::string(kOfHost) + std::get<http::HostPattern>(what_).text();
}

PurgePattern PurgePattern::of_text(std::string_view text) {
  if (text.starts_with(kOfGiver)) {
    const auto tag = http::parse_decimal(text.substr(kOfGiver.size())).value_or(0);
    // A later version of this program may have written it. To purge too much costs hits; to purge
    // too little would serve what the operator has purged.
    if (tag == 0 || tag > kLastTag) return PurgePattern("");
    return PurgePattern(cache::Giver{static_cast<cache::GiverTag>(tag)});
  }
  if (!text.starts_with(kOfHost)) return PurgePattern(std::string(text));
  const auto hosts = config::parse_host_pattern(text.substr(kOfHost.size()));
  return hosts ? PurgePattern(http::HostPattern(*hosts)) : PurgePattern("");
}

std::function<bool(std::string_view, cache::GiverTag)> PurgePattern::reading(
    std::string_view text) {
  return [purge = of_text(text)](std::string_view name, cache::GiverTag giver) {
    return purge.covers(name, giver);
  };
}

}  // namespace proxy::cache
