#include <algorithm>

#include "config/text.hpp"
#include "proxy/command/squid/parts.hpp"

namespace proxy::command::squid {
namespace {

using Origins = std::vector<CachePeer>;

bool has_option(const Line& line, std::string_view option) {
  return std::any_of(line.words.begin(), line.words.end(), [option](const Word& word) {
    return config::lower_case(word.text) == option;
  });
}

std::string value_of(const Line& line, std::string_view option) {
  for (const Word& word : line.words) {
    if (word.text.starts_with(option)) return config::lower_case(word.text).substr(option.size());
  }
  return {};
}

bool is_accelerator(const Line& line) {
  return has_option(line, "accel") || has_option(line, "vhost") || has_option(line, "vport") ||
         !(value_of(line, "vport=") + value_of(line, "defaultsite=")).empty();
}

// The site of a port whose requests are all for one; empty: the Host of each names it.
std::string site_of(const Line& line) {
  const auto site = config::parse_host_pattern(value_of(line, "defaultsite="));
  const bool is_host = site && site->host.find_first_of("*[:") == std::string::npos;
  // Without no-vhost, Squid takes defaultsite for those requests alone that have no Host.
  return is_host && has_option(line, "no-vhost") ? value_of(line, "defaultsite=") : "";
}

Accelerators accelerators_of(const std::vector<Line>& lines, Findings& findings) {
  std::vector<const Line*> ports;
  bool has_others = false;
  for (const Line& line : lines) {
    if (line.words.empty() || (line.name != "http_port" && line.name != "https_port")) continue;
    if (is_accelerator(line)) ports.push_back(&line);
    has_others = has_others || (line.name == "http_port" && !is_accelerator(line));
  }
  if (ports.empty()) return {};
  const Line& first = *ports.front();
  Accelerators found{true, has_others, site_of(first)};
  for (const Line* const port : ports) {
    const std::string site = site_of(*port);
    found.forwards = found.forwards || has_option(*port, "allow-direct");
    // All ports are served alike: unless they share one site, the Host of a request names it.
    if (site != site_of(first)) found.site.clear();
    if (has_option(*port, "ignore-cc")) {
      findings.left(*port,
                    "ignore-cc: write a rule for the sites with \"ignore_client_no_cache\": true");
    }
    if (site.empty() && !value_of(*port, "defaultsite=").empty()) {
      findings.changed(
          *port,
          "defaultsite: a request without Host is answered only if \"reverse\" has the host "
          "\"*\"");
    }
  }
  if (found.site.empty() && !site_of(first).empty()) {
    findings.changed(first, "the Host of a request names its site, on all ports alike");
  }
  if (has_others) {
    findings.changed(
        first,
        "every port of listen serves both the sites of \"reverse\" and clients that use it as "
        "their proxy; access says who may do what");
  }
  return found;
}

std::string_view reason_to_leave_port(const Line& line) {
  // Requests there are in origin form, which Hearsay takes for its own pages and sites of its own.
  for (const std::string_view mode : {"intercept", "transparent", "tproxy"}) {
    if (has_option(line, mode)) {
      return "connections to other servers are not intercepted; use /wpad.dat";
    }
  }
  if (has_option(line, "require-proxy-header")) return "there is no PROXY protocol";
  if (has_option(line, "protocol=https") || line.name == "https_port") {
    return "listen has no TLS; put a server with TLS before it";
  }
  return line.conditional ? "it depends on a condition" : "";
}

constexpr std::size_t kMostSites = 1'000;  // of "reverse"
constexpr std::size_t kMostOrigins = 16;   // of one site

// Whether the site is one of the origin's.
bool serves(const CachePeer& origin, std::string_view site) {
  const auto has_site = [site](const std::string& each) { return covers_host(each, site); };
  return origin.for_hosts.empty() ||
         std::any_of(origin.for_hosts.begin(), origin.for_hosts.end(), has_site);
}

// `host`: of the setting. `site`: how Squid knows the site, without a port.
void append_site(const std::string& host, const std::string& site, const Origins& origins,
                 std::vector<Json>& sites, Findings& findings) {
  Hosts urls;
  std::string send_host;
  Json json{{"host", host}};
  for (const CachePeer& origin : origins) {
    if (!serves(origin, site)) continue;
    const bool other_host = !urls.empty() && send_host != origin.send_host;
    if (other_host || urls.size() == kMostOrigins) {
      findings.left(origin.line, other_host
                                     ? "all origins of a site get the same Host (forceddomain)"
                                     : "a site of \"reverse\" has at most 16 origins");
      continue;
    }
    append_new(urls, {origin.url()});
    send_host = origin.send_host;
    add_comment(json, origin_of(origin.line.source));
  }
  if (urls.empty()) return;
  json["to"] = urls.size() == 1 ? Json(urls.front()) : Json(urls);
  if (!send_host.empty()) json["send_host"] = send_host;
  sites.push_back(std::move(json));
}

}  // namespace

Listening read_ports(const std::vector<Line>& lines, Json& into, Findings& findings) {
  Listening listening{{}, accelerators_of(lines, findings)};
  std::vector<std::string> texts;
  for (const Line& line : lines) {
    if ((line.name != "http_port" && line.name != "https_port") || line.words.empty()) continue;
    if (const auto why = reason_to_leave_port(line); !why.empty()) {
      findings.left(line, std::string(why));
      continue;
    }
    if (has_option(line, "ssl-bump")) {
      findings.left(line, "ssl-bump: TLS is not opened; https through CONNECT passes unseen");
    }
    // Squid listens on all addresses of both families with one socket.
    const std::string& text = line.words[0].text;
    std::vector<std::string> sockets{text};
    // A socket of ours is of one family, whatever the system's default for IPv6 sockets is.
    if (config::parse_number(text, 65'535)) sockets = {"0.0.0.0:" + text, "[::]:" + text};
    for (const std::string& each : sockets) {
      const auto socket = config::parse_listen(each);
      auto& known = listening.sockets;
      if (!socket || socket->port == 0) {
        findings.left(line, "listen takes an address and a port, such as \"10.0.0.1:3128\"");
      } else if (std::find(known.begin(), known.end(), *socket) == known.end()) {
        known.push_back(*socket);
        texts.push_back(each);
      }
    }
  }
  const bool none = texts.empty();
  if (none) {
    // Settings without a socket are refused; one on loopback lets nobody in from elsewhere.
    texts.emplace_back("127.0.0.1:3128");
    listening.sockets.push_back(*config::parse_listen(texts[0]));
  }
  into["listen"] = texts;
  if (none) add_comment(into, "no http_port line could be carried over", "listen");
  if (texts.front().starts_with("0.0.0.0:")) {
    add_comment(into, "all addresses; leave out [::] on a machine without IPv6", "listen");
  }
  return listening;
}

void write_reverse(Origins origins, const Accelerators& accelerators, Json& into,
                   Findings& findings) {
  const std::string& one = accelerators.site;  // of every request
  std::size_t sites_of_all = 0;
  Hosts named;
  for (CachePeer& origin : origins) {
    if (origin.send_host.empty()) origin.send_host = one;
  }
  std::erase_if(origins, [&](const CachePeer& origin) {
    const Hosts sites = origin.for_hosts.empty() ? Hosts{"*"} : origin.for_hosts;
    sites_of_all += sites.size();
    const bool too_many = sites_of_all > kMostSites;
    // Else the origin would get requests that are another's.
    if (too_many || !origin.not_for.empty()) {
      findings.left(origin.line, too_many
                                     ? "the origin is left out: \"reverse\" takes 1000 sites"
                                     : "the origin is left out: \"reverse\" names no exceptions");
      return true;
    }
    for (const std::string& site : sites) {
      if (std::find(named.begin(), named.end(), site) == named.end()) named.push_back(site);
    }
    return false;
  });
  std::vector<Json> sites;
  if (!one.empty()) {
    append_site("*", one.substr(0, one.find(':')), origins, sites, findings);
  } else {
    for (const std::string& site : named) append_site(site, site, origins, sites, findings);
  }
  if (!sites.empty()) into["reverse"] = sites;
  if (!accelerators.forwards) into["forward"] = false;
}

}  // namespace proxy::command::squid
