#include "proxy/command/squid/reverse.hpp"

#include <algorithm>

#include "proxy/command/squid/conditions.hpp"

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

void append_new(Hosts& into, const Hosts& more) {
  for (const std::string& each : more) {
    if (std::find(into.begin(), into.end(), each) == into.end()) into.push_back(each);
  }
}

class Writer {
 public:
  Writer(Origins origins, const Accelerators& accelerators, Findings& findings)
      : accelerators_(accelerators), findings_(findings) {
    std::size_t sites = 0;
    for (Peer& origin : origins) {
      sites += 1 + origin.for_hosts.size() + origin.not_for.size();
      if (sites <= kMostSites) {
        origins_.push_back(std::move(origin));
      } else {
        tell(origin, Kind::left, "the origin is left out: \"reverse\" takes 1000 sites");
      }
    }
  }

  std::vector<Json> sites() {
    if (!accelerators_.site.empty()) {
      append_site("*", accelerators_.site.substr(0, accelerators_.site.find(':')));
      return std::move(sites_);
    }
    leave_out_with_exceptions();
    for (const std::string& site : named_sites()) {
      if (has_origin(origins_, site)) append_site(site, site);
    }
    return std::move(sites_);
  }

 private:
  // A request for one of these hosts goes to the same origins as any other whose narrowest pattern
  // it is.
  [[nodiscard]] Hosts named_sites() const {
    Hosts sites;
    for (const Peer& origin : origins_) {
      append_new(sites, origin.for_hosts.empty() ? Hosts{"*"} : origin.for_hosts);
      append_new(sites, origin.not_for);
    }
    return sites;
  }

  // "reverse" names the sites of an origin. Of these it excepts only what other origins have.
  void leave_out_with_exceptions() {
    const auto has_exception = [&](const Peer& origin) {
      return std::any_of(origin.not_for.begin(), origin.not_for.end(),
                         [&](const std::string& site) { return !has_origin(origins_, site); });
    };
    for (;;) {
      const auto found = std::find_if(origins_.begin(), origins_.end(), has_exception);
      if (found == origins_.end()) return;
      tell(*found, Kind::left,
           "the origin is left out: it is not for a site that no other origin has, and "
           "\"reverse\" names no exceptions");
      origins_.erase(found);
    }
  }

  // `host`: of the setting. `site`: how Squid knows the site.
  void append_site(const std::string& host, const std::string& site) {
    Hosts urls;
    std::string send_host;
    Json json;
    json.add("host", Json::text(host));
    for (const Peer& origin : origins_) {
      if (!takes(origin, site) || !can_add(origin, urls, send_host)) continue;
      append_new(urls, {url_of(origin)});
      send_host = origin.send_host;
      json.comment(origin.line.place.file + ':' + std::to_string(origin.line.place.number));
    }
    if (urls.empty()) return;
    json.add("to", urls.size() == 1 ? Json::text(urls.front()) : Json::texts(urls));
    if (send_host.empty()) send_host = accelerators_.site;
    if (!send_host.empty()) json.add("send_host", Json::text(send_host));
    sites_.push_back(std::move(json));
  }

  bool can_add(const Peer& origin, const Hosts& urls, const std::string& send_host) {
    if (urls.size() == kMostOrigins) {
      tell(origin, Kind::left, "a site of \"reverse\" has at most 16 origins");
      return false;
    }
    if (!urls.empty() && send_host != origin.send_host) {
      tell(origin, Kind::left, "all origins of a site get the same Host (forceddomain)");
      return false;
    }
    return true;
  }

  void tell(const Peer& origin, Kind kind, std::string what) {
    findings_.push_back({origin.line.place, kind, origin.line.text, std::move(what)});
  }

  Origins origins_;
  const Accelerators& accelerators_;
  Findings& findings_;
  std::vector<Json> sites_;
};

}  // namespace

void write_reverse(Origins origins, const Accelerators& accelerators, Imported& into,
                   Findings& findings) {
  auto sites = Writer(std::move(origins), accelerators, findings).sites();
  if (!sites.empty()) into.after_peers.add("reverse", Json::list(std::move(sites)));
  if (!accelerators.forwards) into.after_peers.add("forward", Json::literal("false"));
}

}  // namespace proxy::command::squid
