#include "proxy/pages/pac.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/asio/ip/host_name.hpp>
#include <iterator>
#include <tuple>
#include <vector>

#include "config/endpoint.hpp"
#include "proxy/pages/own_pages.hpp"

namespace proxy::pages {
namespace {

constexpr unsigned kV4 = 96;  // the bits before an IPv4 address in its mapped form

// Hosts are letters, digits, '-', '.', '_' and ':', so they need no escapes.
std::string texts_of(const std::vector<std::string>& texts) {
  return texts.empty() ? "[]" : fmt::format("[\"{}\"]", fmt::join(texts, "\", \""));
}

// Hosts that are not asked for here: "a.example" itself, ".example.com" for all below it.
std::vector<std::string> direct_hosts(const config::Settings& settings, std::string_view own_name) {
  std::vector<std::string> hosts{"localhost", ".localhost"};
  const auto add = [&hosts](std::string_view host) {
    const auto pattern = config::parse_host_pattern(host);
    if (!pattern || pattern->host == "*") return;
    auto text = pattern->host.starts_with('*') ? pattern->host.substr(1) : pattern->host;
    if (std::find(hosts.begin(), hosts.end(), text) == hosts.end())
      hosts.push_back(std::move(text));
  };
  add(own_name);
  add(settings.process.name);
  for (const auto& name : settings.access.own_names) add(name);
  for (const auto& mapping : settings.gateway.reverse) add(mapping.host);
  for (const auto& host : settings.access.direct) add(host.host);
  return hosts;
}

// The IPv4 networks of access.deny_to as "address", "mask" of isInNet(), without those within
// another one. Two networks are apart, or one is within the other.
// This proxy refuses requests for these, so a client that can reach them goes there itself.
std::string networks_text(config::Networks networks) {
  const auto place = [](const config::Network& network) {
    return std::tie(network.address, network.prefix);
  };
  // A network sorts before those within it: it has the same first address or a lower one, and a
  // shorter prefix.
  std::sort(networks.begin(), networks.end(),
            [&](const auto& a, const auto& b) { return place(a) < place(b); });
  std::string text;
  const config::Network* last = nullptr;
  for (const auto& network : networks) {
    if (network.prefix < kV4 || !config::is_v4(network.address)) continue;
    if (last && last->contains(network.address)) continue;
    last = &network;
    const unsigned bits = network.prefix - kV4;
    const auto mask = bits == 0 ? 0U : ~0U << (32 - bits);
    const auto& a = network.address;
    fmt::format_to(std::back_inserter(text), "{}[\"{}.{}.{}.{}\", \"{}.{}.{}.{}\"]",
                   text.empty() ? "" : ", ", a[12], a[13], a[14], a[15], mask >> 24,
                   mask >> 16 & 0xff, mask >> 8 & 0xff, mask & 0xff);
  }
  return '[' + text + ']';
}

// The first and the last port of each range.
// A tunnel to any other port would be refused here, so the script leads past this proxy.
std::string ports_text(const std::vector<config::PortRange>& ports) {
  std::string text;
  for (const auto& [first, last] : ports) {
    fmt::format_to(std::back_inserter(text), "{}[{}, {}]", text.empty() ? "" : ", ", first, last);
  }
  return '[' + text + ']';
}

// A neighbour on this machine is one for clients on this machine alone.
bool is_on_this_machine(const config::HostPort& at) {
  const auto address = config::parse_address(at.host);
  return at.host == "localhost" || (address && config::is_loopback(*address));
}

// The neighbours that clients of ours may use, as the script returns them: siblings of the site,
// which serve its clients. One that wants a password is none.
std::vector<std::string> neighbours_of(const std::vector<peers::PeerRef>& peers,
                                       const config::HostPort& proxy) {
  constexpr std::size_t kMost = 8;  // a client tries one after the other
  std::vector<std::string> all;
  for (const auto& peer : peers) {
    const config::HostPort at{peer->host, peer->port};
    const bool is_of_site = peer->role == config::Role::sibling &&
                            peer->trust == config::Trust::site && peer->authorization.empty();
    const bool is_within_reach = !is_on_this_machine(at) || is_on_this_machine(proxy);
    if (!is_of_site || !is_within_reach || peer->is_ourselves() || at == proxy) continue;
    if (all.size() < kMost) all.push_back(config::pac_server({peer->tls, at}));
  }
  return all;
}

// What the script returns after this proxy, and after that: pac_fallback.
struct Fallback {
  std::string proxies;
  std::string direct;
};
Fallback fallback_of(const config::Settings& settings, const std::vector<peers::PeerRef>& peers,
                     const config::HostPort& proxy) {
  Fallback fallback;
  // Neither this proxy again nor a server twice: each would cost the client another time-out.
  std::vector<std::string> known{config::pac_server({false, proxy}),
                                 config::pac_server({true, proxy})};
  const auto add = [&](const std::string& server) {
    if (std::find(known.begin(), known.end(), server) != known.end()) return;
    known.push_back(server);
    fallback.proxies.append("; ").append(server);
  };
  for (const auto& next : settings.pages.pac_fallback) {
    if (next == config::kPacDirect) {
      fallback.direct = "; DIRECT";
    } else if (next == config::kPacNeighbours) {
      for (const auto& server : neighbours_of(peers, proxy)) add(server);
    } else {
      add(next);
    }
  }
  return fallback;
}

// Hosts of `never_direct`, as direct_hosts() spells hosts; "" is every host.
std::vector<std::string> indirect_hosts(const config::Settings& settings) {
  std::vector<std::string> hosts;
  for (const auto& spec : settings.never_direct) {
    hosts.push_back(spec.host.starts_with('*') ? spec.host.substr(1) : spec.host);
  }
  return hosts;
}

// In the JavaScript of 1999 (ES3): the engines that run such scripts, of old browsers and of
// Windows, know no other.
constexpr std::string_view kFunction = R"(
function isWithin(host, list) {
  for (var i = 0; i < list.length; ++i) {
    var end = host.length - list[i].length;
    var below = list[i].charAt(0) == "." && end > 0 && host.substring(end) == list[i];
    if (below || host == list[i] || list[i] == "") return true;
  }
  return false;
}
function FindProxyForURL(url, host) {
  host = host.toLowerCase().replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (/^[0-9.]+$/.test(host)) {
    if (/^127\./.test(host)) return "DIRECT";
    for (var i = 0; i < networks.length; ++i) {
      if (isInNet(host, networks[i][0], networks[i][1])) return "DIRECT";
    }
  } else if (host.indexOf(":") >= 0) {
    if (/^(::1?$|fe[89ab])/.test(host)) return "DIRECT";
  } else if (host.indexOf(".") < 0) {
    return "DIRECT";
  }
  if (isWithin(host, hosts)) return "DIRECT";
  if (!/^(https?|wss?):/i.test(url)) return "DIRECT";
  var ways = proxy + next + (isWithin(host, indirect) ? "" : direct);
  var tunnel = /^(https|wss?):/i.exec(url);  // by CONNECT, ws: too
  if (tunnel) {
    var usual = tunnel[1].toLowerCase() == "ws" ? 80 : 443;
    var port = /^[a-z]+:\/\/[^\/?#]*:([0-9]+)(?:[\/?#]|$)/i.exec(url);
    port = port ? Number(port[1]) : usual;
    for (var k = 0; k < ports.length; ++k) {
      if (port >= ports[k][0] && port <= ports[k][1]) return ways;
    }
    return "DIRECT";
  }
  return ways;
}
)";

}  // namespace

std::string pac_script(const config::Settings& settings, const std::vector<peers::PeerRef>& peers,
                       const config::HostPort& proxy, std::string_view own_name) {
  const auto fallback = fallback_of(settings, peers, proxy);
  return fmt::format(
      "// When to use this proxy, as its settings say.\n"
      "var proxy = \"{}\";\nvar next = \"{}\";\nvar direct = \"{}\";\nvar indirect = {};\n"
      "var hosts = {};\nvar networks = {};\nvar ports = {};\n{}",
      config::pac_server({false, proxy}), fallback.proxies, fallback.direct,
      texts_of(indirect_hosts(settings)), texts_of(direct_hosts(settings, own_name)),
      networks_text(settings.access.deny_to), ports_text(settings.access.connect_ports), kFunction);
}

bool is_wpad(std::string_view host) {
  return host == "wpad" || host.starts_with("wpad.");
}

std::optional<config::HostPort> reached_at(const Visit& visit) {
  config::HostPort at{std::string(visit.request.target.host()), visit.request.target.port()};
  const auto named = config::parse_host_pattern(config::to_text(at));
  if (at.host.empty() || !named || named->host.starts_with('*')) return std::nullopt;
  return at;
}

reply::Refusal needs_host() {
  return {400, "the Host field says where I am, so this needs one", observe::Tag::own_page, {}};
}

PageAnswer serve_pac(const Visit& visit) {
  // The script names nothing that was not read as a host, since whatever stands in it is run.
  const auto at = reached_at(visit);
  if (!at) return refused(needs_host());
  const auto& policy = visit.policy();
  net::error_code unknown;
  const auto our_name = net::asio::ip::host_name(unknown);
  return send_page(
      visit.client,
      reply::own_message(visit.client, 200, "application/x-ns-proxy-autoconfig",
                         pac_script(policy.settings, policy.directory->peers(), *at, our_name)));
}

}  // namespace proxy::pages
