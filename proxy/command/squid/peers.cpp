#include "proxy/command/squid/peers.hpp"

#include <algorithm>
#include <optional>

#include "config/endpoint.hpp"
#include "config/text.hpp"
#include "proxy/command/squid/peer_options.hpp"
#include "proxy/command/squid/reverse.hpp"

namespace proxy::command::squid {
namespace {

using Kind = Finding::Kind;

constexpr std::size_t kMostParents = 32;
constexpr std::size_t kMostPeers = 1'000;
constexpr std::size_t kMostHosts = 256;  // of one peer

class Reader {
 public:
  Reader(const Acls& acls, const Listening& listening, Findings& findings)
      : acls_(acls), listening_(listening), findings_(findings) {}

  void read_peer(const Line& line) {
    if (line.words.size() < 4) return tell(line, Kind::left, "is not complete");
    Peer peer;
    peer.line = line;
    peer.host = config::lower_case(line.words[0].text);
    peer.name = peer.host;
    peer.parent = line.words[1].text == "parent";
    const auto port = config::parse_number(line.words[2].text, 65'535);
    peer.port = port.value_or(0);
    const bool is_sibling = line.words[1].text == "sibling";
    peer.origin = is_origin(line);
    if (peer.origin && !listening_.accelerators.any) {
      return tell(line, Kind::left,
                  "no port is an accelerator, so no site is served: \"reverse\": [{ \"host\": "
                  "\"*\", \"to\": \"" +
                      config::printable(url_of(peer), 80) + "\" }]");
    }
    if (!peer.parent && !is_sibling && !peer.origin) {
      return tell(line, Kind::left, "there is no multicast: list each peer of the group by itself");
    }
    for (std::size_t i = 4; i < line.words.size(); ++i) take_option(peer, line.words[i].text);
    if (const auto why = reason_to_leave(peer); !why.empty()) return tell(line, Kind::left, why);
    if (!peer.parent && !peer.origin && peer.no_digest) {
      tell(line, Kind::changed,
           "a sibling is asked for what its digest claims, so it has to have one: in Squid, "
           "digest_generation on");
    }
    peers_.push_back(std::move(peer));
  }

  // "cache_peer_access NAME allow|deny ACL", "cache_peer_domain NAME DOMAIN !DOMAIN ...". If the
  // settings would ask a peer for more than these lines say, the peer is left out.
  void read_peer_access(const std::vector<Line>& lines) {
    std::erase_if(peers_, [&](Peer& peer) {
      std::vector<const Line*> access;
      std::vector<const Line*> domains;
      for (const Line& line : lines) {
        if (line.words.empty() || line.words[0].text != peer.name) continue;
        if (line.name == "cache_peer_access") access.push_back(&line);
        if (line.name == "cache_peer_domain") domains.push_back(&line);
      }
      return !choose_by_access(peer, access) || !choose_by_domains(peer, domains);
    });
  }

  void read_always_direct(const std::vector<Line>& lines) {
    for (const Line& line : lines) {
      if (line.name != "always_direct") continue;
      if (is_for_all(line, "deny")) return;
      const auto hosts = hosts_of(line, 0, "allow");
      if (!hosts) {
        tell(line, Kind::left, "peers know hosts only: \"not_for\" of each peer");
        continue;
      }
      for (Peer& peer : peers_) append(line, peer.not_for, *hosts);
      has_exceptions_ = true;
    }
  }

  void read_never_direct(const std::vector<Line>& lines, Imported& into) {
    Hosts hosts;
    bool all = false;
    for (const Line& line : lines) {
      if (line.name != "never_direct" || all) continue;
      if (is_for_all(line, "deny")) break;
      const auto more = hosts_of(line, 0, "allow");
      has_exceptions_ = has_exceptions_ || line.words.empty() || line.words[0].text != "allow";
      if (!listening_.accelerators.forwards) {
        tell(line, Kind::unneeded, "only the sites of \"reverse\" are served");
        continue;
      }
      const bool has_parent = std::any_of(peers_.begin(), peers_.end(), is_parent);
      all = is_for_all(line, "allow");
      if (!has_parent || (!more && !all)) {
        tell(line, Kind::left, has_parent ? "never_direct names hosts only" : "there is no parent");
        all = false;
      } else if (all && has_exceptions_) {
        tell(line, Kind::left,
             "never_direct has no exceptions, and other lines make some: the origin is asked once "
             "all "
             "parents have failed");
        return;
      } else if (more) {
        append(line, hosts, *more);
      }
    }
    if (all) into.after_peers.add("never_direct", Json::text("all"));
    if (!all && !hosts.empty()) into.after_peers.add("never_direct", Json::texts(hosts));
  }

  // Unless told otherwise, Squid sends requests whose responses it never stores right to origins.
  void note_direct(const std::vector<Line>& lines, const Imported& into) {
    const auto parent = std::find_if(peers_.begin(), peers_.end(), is_parent);
    const bool is_told = std::any_of(lines.begin(), lines.end(), [](const Line& line) {
      return line.name == "nonhierarchical_direct" && !line.words.empty() &&
             line.words[0].text == "off";
    });
    if (parent == peers_.end() || is_told || into.after_peers.has("never_direct")) return;
    tell(parent->line, Kind::changed,
         "requests that Squid sends to origins itself (POST, CONNECT and the like: "
         "nonhierarchical_direct) go to parents first, too");
  }

  void write(Imported& into) const {
    std::vector<Peer> origins;
    for (const Peer& peer : peers_) {
      if (peer.origin) {
        origins.push_back(peer);
      } else {
        into.peers.push_back(written(peer));
      }
    }
    write_reverse(std::move(origins), listening_.accelerators, into, findings_);
  }

 private:
  static bool is_origin(const Line& line) {
    return std::any_of(line.words.begin(), line.words.end(),
                       [](const Word& word) { return word.text == "originserver"; });
  }

  static bool is_parent(const Peer& peer) { return peer.parent && !peer.origin; }

  void take_option(Peer& peer, const std::string& option) {
    const auto value = option.substr(std::min(option.find('=') + 1, option.size()));
    if (option.starts_with("name=")) {
      peer.name = value;
    } else if (option == "ssl" || option == "tls") {
      peer.tls = true;
    } else if (option == "originserver") {
      return;
    } else if (peer.origin) {
      take_option_of_origin(peer, option, value);
    } else if (option.starts_with("weight=")) {
      peer.weight =
          std::clamp<std::uint64_t>(config::parse_number(value, 1'000).value_or(1), 1, 1'000);
    } else if (option == "no-digest") {
      peer.no_digest = true;
    } else if (option.starts_with("login=")) {
      take_login(peer, value);
    } else {
      take_other(peer, option);
    }
  }

  void take_option_of_origin(Peer& peer, const std::string& option, const std::string& value) {
    const auto host = config::parse_host_pattern(value);
    if (option.starts_with("forceddomain=") && host && !host->host.starts_with('*')) {
      peer.send_host = value;
    } else {
      take_other(peer, option);
    }
  }

  void take_login(Peer& peer, const std::string& login) {
    const auto colon = login.find(':');
    const bool usable = colon != login.npos && colon > 0 && login.size() <= 512 &&
                        login.find('*') != 0 && config::printable(login, 512) == login;
    if (usable) {
      peer.login = login;
    } else {
      tell(peer.line, Kind::left, "clients' passwords are not passed on; name one login");
    }
  }

  void take_other(const Peer& peer, const std::string& option) {
    const PeerOption* const found = peer_option(option, peer.origin);
    const std::string name = config::printable(option.substr(0, option.find('=')), 40);
    if (found == nullptr) return tell(peer.line, Kind::left, name + ": is not known");
    if (found->kind != Kind::unneeded) {
      tell(peer.line, found->kind, name + ": " + std::string(found->why));
    }
  }

  // Why the settings would not take the peer; empty if they would.
  std::string reason_to_leave(const Peer& peer) const {
    const auto url = config::parse_server_url(url_of(peer));
    if (!url) return "it has no host and port that are understood";
    if (peer.line.conditional) return "it depends on a condition";
    for (const auto& own : listening_.sockets) {
      if (config::is_ourselves(url->at, own)) return "it is where we listen ourselves";
    }
    for (const Peer& other : peers_) {
      if (other.name == peer.name && (other.origin || peer.origin))
        return "another peer has its name";
      if (other.origin || peer.origin) continue;  // one server may have several sites
      const auto twin = config::parse_server_url(url_of(other));
      if (twin && twin->at == url->at) return "another line has the same host and port";
      if (name_in_settings(other) == name_in_settings(peer)) return "another peer has its name";
    }
    const auto parents = std::count_if(peers_.begin(), peers_.end(), is_parent);
    if (is_parent(peer) && static_cast<std::size_t>(parents) == kMostParents)
      return "there are 32 parents at most";
    return peers_.size() == kMostPeers ? "there are 1000 peers at most" : "";
  }

  // The name that the settings give, or would give by default.
  static std::string name_in_settings(const Peer& peer) {
    const bool named =
        config::is_token(peer.name) && peer.name.size() <= 64 && peer.name != peer.host;
    return named ? peer.name
                 : config::default_name(peer.host, static_cast<std::uint16_t>(peer.port));
  }

  // Returns whether hosts that no line names are allowed: Squid does the opposite of the last line.
  // Removes the last lines that change nothing about that.
  static bool rest_of(std::vector<const Line*>& lines) {
    const auto allows = [](const Line* line) {
      return line->words.size() > 1 && line->words[1].text == "allow";
    };
    bool rest = lines.empty() || !allows(lines.back());
    const auto last = std::find_if(lines.begin(), lines.end(), [](const Line* line) {
      return !line->conditional && (is_for_all(*line, "allow", 1) || is_for_all(*line, "deny", 1));
    });
    if (last != lines.end()) {
      rest = allows(*last);
      lines.erase(last, lines.end());
    }
    while (!lines.empty() && allows(lines.back()) == rest) lines.pop_back();
    return rest;
  }

  static std::string chosen_by_hosts(const Peer& peer) {
    return peer.origin ? "an origin is chosen by the site alone: \"host\" of \"reverse\""
                       : "a peer is chosen by hosts only: \"for\" and \"not_for\"";
  }

  // Returns whether "for" and "not_for" can say the same as the lines: all lines that deny must
  // precede all lines that allow.
  bool choose_by_access(Peer& peer, std::vector<const Line*> lines) {
    const bool rest = rest_of(lines);
    for (const Line* line : lines) {
      const auto allowed = hosts_of(*line, 1, "allow");
      const auto denied = hosts_of(*line, 1, "deny");
      if ((!allowed && !denied) || (denied && !peer.for_hosts.empty())) {
        tell(*line, Kind::left, chosen_by_hosts(peer));
        return leave_out(peer, Kind::left, "settings cannot say for which requests it is asked");
      }
      if (!append(*line, allowed ? peer.for_hosts : peer.not_for, allowed ? *allowed : *denied)) {
        return leave_out(peer, Kind::left, "it is for more hosts than settings can list");
      }
    }
    return rest || !peer.for_hosts.empty() ||
           leave_out(peer, Kind::changed, "cache_peer_access lets no request go there");
  }

  bool choose_by_domains(Peer& peer, const std::vector<const Line*>& lines) {
    Hosts only;
    for (const Line* line : lines) {
      for (std::size_t i = 1; i < line->words.size(); ++i) {
        std::string_view domain = line->words[i].text;
        const bool except = domain.starts_with('!');
        if (except) domain.remove_prefix(1);
        const auto hosts = hosts_of_domain(domain);
        // The first domain that matches decides, so the order of both kinds would matter.
        const bool fits = !hosts.empty() && !line->conditional && (!except || only.empty());
        if (!fits || !append(*line, except ? peer.not_for : only, hosts)) {
          tell(*line, Kind::left, chosen_by_hosts(peer));
          return leave_out(peer, Kind::left, "settings cannot say for which hosts it is asked");
        }
      }
    }
    if (only.empty()) return true;
    if (!peer.for_hosts.empty()) {
      return leave_out(peer, Kind::left, "lines of both kinds say for which hosts it is asked");
    }
    peer.for_hosts = std::move(only);
    return true;
  }

  bool leave_out(const Peer& peer, Kind kind, std::string_view why) {
    tell(peer.line, kind, "the peer is left out: " + std::string(why));
    return false;
  }

  // The hosts of a line "ACTION ACL" whose acl names hosts only.
  std::optional<Hosts> hosts_of(const Line& line, std::size_t at, std::string_view action) const {
    if (line.words.size() != at + 2 || line.words[at].text != action || line.conditional) {
      return std::nullopt;
    }
    const auto found = acls_.find(line.words[at + 1].text);
    const auto* const hosts = found == acls_.end() ? nullptr : found->second.only_hosts();
    return hosts ? std::optional(*hosts) : std::nullopt;
  }

  // Returns whether there is room for all.
  bool append(const Line& line, Hosts& into, const Hosts& more) {
    for (const std::string& host : more) {
      if (std::find(into.begin(), into.end(), host) != into.end()) continue;
      if (into.size() == kMostHosts) {
        tell(line, Kind::left, "256 hosts are the most");
        return false;
      }
      into.push_back(host);
    }
    return true;
  }

  static Json written(const Peer& peer) {
    Json json;
    json.add("url", Json::text(url_of(peer)));
    json.add("role", Json::text(peer.parent ? "parent" : "sibling"));
    if (name_in_settings(peer) == peer.name) json.add("name", Json::text(peer.name));
    if (peer.parent && peer.no_digest) json.add("digest", Json::text("none"));
    if (peer.parent && peer.weight > 1)
      json.add("weight", Json::literal(std::to_string(peer.weight)));
    if (!peer.for_hosts.empty()) json.add("for", Json::texts(peer.for_hosts));
    if (!peer.not_for.empty()) json.add("not_for", Json::texts(peer.not_for));
    if (!peer.login.empty()) json.add("login", Json::text(peer.login));
    json.comment(peer.line.place.file + ':' + std::to_string(peer.line.place.number));
    return json;
  }

  void tell(const Line& line, Kind kind, std::string what) {
    findings_.push_back({line.place, kind, line.text, std::move(what)});
  }

  const Acls& acls_;
  const Listening& listening_;
  Findings& findings_;
  std::vector<Peer> peers_;
  bool has_exceptions_ = false;  // some hosts need no parent
};

}  // namespace

void read_peers(const std::vector<Line>& lines, const Acls& acls, const Listening& listening,
                Imported& into, Findings& findings) {
  Reader reader(acls, listening, findings);
  for (const Line& line : lines) {
    if (line.name == "cache_peer") reader.read_peer(line);
  }
  reader.read_peer_access(lines);
  reader.read_always_direct(lines);
  reader.read_never_direct(lines, into);
  reader.note_direct(lines, into);
  reader.write(into);
}

}  // namespace proxy::command::squid
