#include "config/peer_list.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "config/text.hpp"

namespace config {

namespace {

template <class E>
using Planned = Word<std::optional<E>>;  // without a meaning: reserved for a later version

constexpr std::array<Planned<Role>, 2> kRoles{{{"sibling", Role::sibling}, {"parent", {}}}};
constexpr std::array<Planned<PeerDigest>, 4> kDigests{{{"auto", PeerDigest::automatic},
                                                       {"squid", PeerDigest::squid},
                                                       {"none", PeerDigest::none},
                                                       {"native", PeerDigest::native}}};

constexpr std::array<Word<Trust>, 2> kTrusts{{{"site", Trust::site}, {"guest", Trust::guest}}};

template <class E, std::size_t N>
void read_planned(Section& in, std::string_view key, E& into,
                  const std::array<Planned<E>, N>& words) {
  std::optional<E> chosen = into;
  in.read_word(key, chosen, words);
  if (chosen) {
    into = *chosen;
  } else {
    in.fault(*in.find(key), "is not built yet; leave it out for " + in_quotes(words[0].text));
  }
}

void read_url(Section& in, std::span<const HostPort> listen, PeerSettings& peer) {
  constexpr std::string_view kForm = "a URL like \"http://10.0.0.2:3128\", without path or user";
  const auto found = in.find("url");
  if (!found)
    return in.fault(in.whole(), "expected \"url\", " + std::string(kForm) + "; it is missing");
  const auto* text = std::get_if<std::string>(&found->value->content);
  if (text && lower_case(*text).starts_with("https://")) {
    return in.fault(*found, "peers over TLS are not built yet; expected " + std::string(kForm));
  }
  const auto endpoint = text ? parse_peer_url(*text) : std::nullopt;
  if (!endpoint) return in.expected(*found, kForm);
  peer.url = *text;
  peer.host = endpoint->host;
  peer.port = endpoint->port;
  const auto here = std::find_if(listen.begin(), listen.end(),
                                 [&](const HostPort& own) { return is_ourselves(*endpoint, own); });
  if (here != listen.end()) in.fault(*found, "is where we listen ourselves; leave it out");
}

// Two peers with one name could not be told apart in /digest; one address listed twice would be
// asked twice.
void refuse_twins(Section& in, const PeerSettings& peer, std::span<const PeerSettings> others) {
  for (std::size_t i = 0; i < others.size(); ++i) {
    const PeerSettings& other = others[i];
    if (peer.host == other.host && peer.port == other.port) {
      return in.fault(in.whole(), "has the same host and port as peers[" + std::to_string(i) + ']');
    }
    if (peer.name == other.name) {
      return in.fault(in.whole(), "has the same name as peers[" + std::to_string(i) + "], " +
                                      in_quotes(peer.name));
    }
  }
}

PeerSettings read_peer(Section& in, std::span<const HostPort> listen) {
  PeerSettings peer;
  read_url(in, listen, peer);
  peer.name = default_name(peer.host, peer.port);
  in.read_token("name", peer.name);
  read_planned(in, "role", peer.role, kRoles);
  read_planned(in, "digest", peer.digest, kDigests);
  in.read_word("trust", peer.trust, kTrusts);
  return peer;
}

}  // namespace

void read_peers(Section& in, std::span<const HostPort> listen, std::vector<PeerSettings>& peers) {
  constexpr std::size_t kMost = 1'000;
  const auto items = in.items("peers", "objects, each with a \"url\"", kMost);
  if (!items) return;
  for (const LocatedValue& item : *items) {
    Section part(item, in.faults());
    PeerSettings peer;
    if (part.is_object()) peer = read_peer(part, listen);
    part.finish();
    if (!peer.host.empty()) refuse_twins(part, peer, peers);
    peers.push_back(std::move(peer));
  }
}

}  // namespace config
