#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "config/sections.hpp"
#include "config/text.hpp"

namespace config {

namespace {

constexpr std::ptrdiff_t kMostParents = 32;  // each request compares all of them

void read_url(Section& in, PeerSettings& peer) {
  constexpr std::string_view kForm = "a URL like \"http://10.0.0.2:3128\", without path or user";
  const auto found = in.require("url", kForm);
  const auto url = found ? in.parsed(*found, kForm, parse_server_url) : std::nullopt;
  if (!url) return;
  peer.url = *found->text();
  peer.tls = url->tls;
  peer.host = url->at.host;
  peer.port = url->at.port;
}

void read_some_hosts(Section& in, std::string_view key, std::vector<HostSpec>& hosts) {
  const auto empty = read_hosts(in, key, hosts);
  if (empty) in.fault(*empty, "expected at least one host; found none");
}

// The error does not repeat what was found, because it may hold a password.
void read_login(Section& in, std::string& login) {
  constexpr std::size_t kLongest = 512;
  const auto found = in.find("login");
  if (!found) return;
  const auto* text = found->text();
  const bool good = text && text->find(':') != std::string::npos && !text->starts_with(':') &&
                    text->size() <= kLongest && !has_control(*text);
  if (!good) {
    return in.fault(*found,
                    "expected \"USER:PASSWORD\", without control characters; found "
                    "something else");
  }
  login = *text;
}

void read_role(Section& in, PeerSettings& peer) {
  in.read_word("role", peer.role, {{"sibling", Role::sibling}, {"parent", Role::parent}});
  in.read_word("trust", peer.trust, {{"site", Trust::site}, {"guest", Trust::guest}});
  in.read("weight", peer.weight, {1, 1'000});
  if (peer.is_parent()) {
    if (peer.trust != Trust::guest) return;
    return in.fault(*in.find("trust"),
                    "a parent's responses count as the origin's, so a guest "
                    "cannot be a parent; leave it out, or make it a sibling");
  }
  if (const auto weight = in.find("weight")) {
    in.fault(*weight, "is for parents, and this peer is a sibling; leave it out");
  }
}

// Two peers with one name could not be told apart in /digest; one address listed twice would be
// asked twice.
void refuse_twins(Section& in, const PeerSettings& peer, std::span<const PeerSettings> others) {
  for (std::size_t i = 0; i < others.size(); ++i) {
    const PeerSettings& other = others[i];
    if (peer.host == other.host && peer.port == other.port) {
      return in.fault(in.whole(), "has the same host and port as peers[" + std::to_string(i) +
                                      "]; take one of the two out");
    }
    if (peer.name == other.name) {
      return in.fault(in.whole(), "has the same name as peers[" + std::to_string(i) + "], " +
                                      in_quotes(peer.name));
    }
  }
}

PeerSettings read_peer(Section& in, std::span<const PeerSettings> others) {
  PeerSettings peer;
  read_url(in, peer);
  peer.name = default_name(peer.host, peer.port);
  in.read_token("name", peer.name);
  read_role(in, peer);
  in.read_word("digest", peer.digest,
               {{"auto", PeerDigest::automatic},
                {"squid", PeerDigest::squid},
                {"none", PeerDigest::none},
                {"native", PeerDigest::native}});
  read_some_hosts(in, "for", peer.hosts.only);
  read_some_hosts(in, "not_for", peer.hosts.never);
  read_login(in, peer.login);
  peer.place = others.size();
  in.finish();
  if (!peer.host.empty()) refuse_twins(in, peer, others);
  const auto parents =
      std::count_if(others.begin(), others.end(), std::mem_fn(&PeerSettings::is_parent));
  if (peer.is_parent() && parents == kMostParents) {
    in.fault(in.whole(), "is one parent too many: at most " + std::to_string(kMostParents));
  }
  return peer;
}

}  // namespace

void read_peers(Section& in, std::vector<PeerSettings>& peers) {
  in.read_objects("peers", {"objects, each with a \"url\"", 1'000}, peers,
                  [&peers](Section& part) { return read_peer(part, peers); });
}

void read_never_direct(Section& in, std::span<const PeerSettings> peers,
                       std::vector<HostSpec>& never_direct) {
  const auto found = in.find("never_direct");
  if (!found) return;
  const auto* text = found->text();
  if (text && *text == "all") {
    never_direct = {HostSpec{"*", std::nullopt}};
  } else if (std::holds_alternative<Array>(found->value->content)) {
    read_some_hosts(in, "never_direct", never_direct);
  } else {
    return in.expected(*found, "\"all\" or a list of hosts, such as [\"*.example.com\"]");
  }
  // Without a parent each request to these hosts would fail. The operator shall learn that here,
  // not from the users.
  if (std::none_of(peers.begin(), peers.end(), std::mem_fn(&PeerSettings::is_parent))) {
    in.fault(
        *found,
        "leaves no way to these hosts: no peer has \"role\": \"parent\"; give one that role, or "
        "leave this out");
  }
}

void read_pac_fallback(Section& in, std::vector<std::string>& fallback) {
  constexpr std::size_t kMost = 16;  // a browser tries one after the other
  const auto items = in.items("pac_fallback", "proxies, \"neighbours\" and \"DIRECT\"", kMost);
  if (!items) return;
  fallback.clear();
  for (const LocatedValue& item : *items) {
    const auto* text = item.text();
    const bool is_word = text && (*text == kPacNeighbours || *text == kPacDirect);
    const auto url = text && !is_word ? parse_server_url(*text) : std::nullopt;
    if (!is_word && !url) {
      constexpr std::string_view kWords[] = {kPacNeighbours, kPacDirect};
      in.expected(item,
                  "\"neighbours\", \"DIRECT\" or the URL of a proxy like "
                  "\"http://10.0.0.2:3128\"",
                  kWords);
    } else if (!fallback.empty() && fallback.back() == kPacDirect) {
      // One fault is enough: all that follow are as useless.
      return in.fault(item, "is never tried, since \"DIRECT\" comes before; put that last");
    } else {
      fallback.push_back(is_word ? *text : pac_server(*url));
    }
  }
}

}  // namespace config
