#include <algorithm>

#include "proxy/command/squid/peers.hpp"

namespace proxy::command::squid {
namespace {

using Kind = Finding::Kind;
using Origins = std::vector<Peer>;

constexpr std::size_t kMostSites = 1'000;  // of "reverse"
constexpr std::size_t kMostOrigins = 16;   // of one site

bool covers_any(const Hosts& patterns, std::string_view host) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& each) { return covers_host(each, host); });
}

bool takes(const Peer& origin, std::string_view site) {
  return (origin.for_hosts.empty() || covers_any(origin.for_hosts, site)) &&
         !covers_any(origin.not_for, site);
}

bool has_origin(const Origins& origins, std::string_view site) {
  return std::any_of(origins.begin(), origins.end(),
                     [&](const Peer& origin) { return takes(origin, site); });
}

// Leaves out what is beyond the bounds, and origins with exceptions: "reverse" names the sites of
// an origin, and excepts of these only what other origins have.
void leave_out(Origins& origins, Findings& findings) {
  std::size_t sites = 0;
  std::erase_if(origins, [&](const Peer& origin) {
    sites += 1 + origin.for_hosts.size() + origin.not_for.size();
    if (sites <= kMostSites) return false;
    tell(findings, origin.line, Kind::left, "the origin is left out: \"reverse\" takes 1000 sites");
    return true;
  });
  const auto has_exception = [&](const Peer& origin) {
    return std::any_of(origin.not_for.begin(), origin.not_for.end(),
                       [&](const std::string& site) { return !has_origin(origins, site); });
  };
  for (;;) {
    const auto found = std::find_if(origins.begin(), origins.end(), has_exception);
    if (found == origins.end()) return;
    tell(findings, found->line, Kind::left,
         "the origin is left out: it is not for a site that no other origin has, and \"reverse\" "
         "names no exceptions");
    origins.erase(found);
  }
}

// `host`: of the setting. `site`: how Squid knows the site, without a port.
void append_site(const std::string& host, const std::string& site, const Origins& origins,
                 std::vector<Json>& sites, Findings& findings) {
  Hosts urls;
  std::string send_host;
  Json json;
  json.add("host", Json::text(host));
  for (const Peer& origin : origins) {
    if (!takes(origin, site)) continue;
    const bool other_host = !urls.empty() && send_host != origin.send_host;
    if (other_host || urls.size() == kMostOrigins) {
      tell(findings, origin.line, Kind::left,
           other_host ? "all origins of a site get the same Host (forceddomain)"
                      : "a site of \"reverse\" has at most 16 origins");
      continue;
    }
    append_new(urls, {origin.url()});
    send_host = origin.send_host;
    json.comment(origin_of(origin.line.place));
  }
  if (urls.empty()) return;
  json.add("to", urls.size() == 1 ? Json::text(urls.front()) : Json::texts(urls));
  if (!send_host.empty()) json.add("send_host", Json::text(send_host));
  sites.push_back(std::move(json));
}

}  // namespace

void write_reverse(Origins origins, const Accelerators& accelerators, Imported& into,
                   Findings& findings) {
  const std::string& one = accelerators.site;  // of every request
  for (Peer& origin : origins) {
    if (origin.send_host.empty()) origin.send_host = one;
  }
  if (one.empty()) leave_out(origins, findings);
  // A request for one of these hosts goes to the same origins as any other whose narrowest pattern
  // it is.
  Hosts named;
  const auto name = [&](const Hosts& hosts) {
    for (const std::string& host : hosts) {
      if (std::find(named.begin(), named.end(), host) == named.end()) named.push_back(host);
    }
  };
  for (const Peer& origin : origins) {
    name(origin.for_hosts.empty() ? Hosts{"*"} : origin.for_hosts);
    name(origin.not_for);
  }
  std::vector<Json> sites;
  if (!one.empty()) {
    append_site("*", one.substr(0, one.find(':')), origins, sites, findings);
  } else {
    for (const std::string& site : named) append_site(site, site, origins, sites, findings);
  }
  if (!sites.empty()) into.after_peers.add("reverse", Json::list(std::move(sites)));
  if (!accelerators.forwards) into.after_peers.add("forward", Json::literal("false"));
}

}  // namespace proxy::command::squid
