#include "proxy/command/squid/parts.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "config/text.hpp"

namespace proxy::command::squid {
namespace {

using Fate = Finding::Fate;

// What no setting carries over.
struct Option {
  std::string_view names;  // separated by '|'; "=" ends a name that a value follows
  Fate fate;
  std::string_view why;
  bool of_origins = false;  // alone; they precede the options of all peers
};

constexpr std::array kOptions{
    Option{"default|no-digest", Fate::unneeded, "", true},
    Option{"round-robin|weighted-round-robin|carp|sourcehash|userhash|weight=", Fate::changed,
           "the first origin of \"to\" that works is asked", true},
    Option{"login=", Fate::left, "no password is sent to an origin but the client's own", true},
    Option{"proxy-only", Fate::left, "write a rule for the site with \"never_store\": true", true},
    Option{"connect-timeout=", Fate::left, "timeouts.connect is the same for all origins", true},
    Option{"no-query|background-ping|closest-only|no-netdb-exchange|multicast-responder|htcp|"
           "htcp=|no-tproxy|no-delay|allow-miss|connect-fail-limit=|basetime=|standby=|ttl=|"
           "originserver",
           Fate::unneeded, ""},
    Option{"default", Fate::changed,
           "the order of parents is that of the URLs' hashes; it is no last resort"},
    Option{"round-robin|weighted-round-robin|carp|sourcehash|userhash", Fate::changed,
           "parents share the URLs by weight, the same way each time"},
    Option{"proxy-only", Fate::changed,
           "digest.duplicates says for all siblings whether what they hold is stored here, too"},
    Option{"digest-url=", Fate::left, "a Squid's digest is fetched at its usual path"},
    Option{"connect-timeout=", Fate::left, "timeouts.peer_connect is the same for all peers"},
    Option{"max-conn=", Fate::left, "connections to a peer have no limit of their own"},
    Option{"forceddomain=", Fate::left, "the Host field is that of the URL"},
    Option{"login=", Fate::left, "clients' passwords are not passed on; name one login"},
    Option{"front-end-https", Fate::left, "no such field is sent"},
    Option{"sslcert=|sslkey=", Fate::left, "no client certificate is shown to peers"},
    Option{"sslflags=", Fate::left, "a peer's certificate is always verified"},
    Option{"sslcafile=|sslcapath=|tls-ca=|tls-cafile=", Fate::left,
           "certificates are verified by the system's store; add the authority there"}};

// Returns whether the settings can say the option.
bool apply_option(CachePeer& peer, std::string_view name, const std::string& value) {
  if (name == "name=") {
    peer.name = value;
  } else if (name == "ssl" || name == "tls") {
    peer.tls = true;
  } else if (peer.origin) {
    const auto host = config::parse_host_pattern(value);
    if (name == "login=") return value == "PASS" || value == "PASSTHRU";
    if (name != "forceddomain=" || !host || host->host.starts_with('*')) return false;
    peer.send_host = value;
  } else if (name == "weight=") {
    const auto weight = config::parse_number(value, 1'000).value_or(1);
    peer.weight = std::max<std::uint64_t>(weight, 1);
  } else if (name == "no-digest") {
    peer.no_digest = true;
  } else {
    // Any URL will do, since only the login is judged.
    const Json one{{"url", "http://a"}, {"login", value}};
    // What begins with an asterisk is a user name that Squid takes from each client.
    const bool login = name == "login=" && !value.starts_with('*');
    if (!login || !fault_of("peers", Json::array({one})).empty()) return false;
    peer.login = value;
  }
  return true;
}

void read_option(CachePeer& peer, const std::string& option, Findings& findings) {
  const auto sign = option.find('=');
  const auto name = option.substr(0, sign == option.npos ? sign : sign + 1);
  if (apply_option(peer, name, option.substr(name.size()))) return;
  const auto* const found = std::find_if(kOptions.begin(), kOptions.end(), [&](const Option& each) {
    return (peer.origin || !each.of_origins) && lists(each.names, name);
  });
  const bool known = found != kOptions.end();
  if (known && found->fate == Fate::unneeded) return;
  findings.add(peer.line, known ? found->fate : Fate::left,
               config::printable(option.substr(0, sign), 40) + ": " +
                   std::string(known ? found->why : "is not known"));
}

// Returns why the line is left out; empty: `peer` is what it says.
std::string read_peer(const Line& line, const Accelerators& accelerators, CachePeer& peer,
                      Findings& findings) {
  if (line.words.size() < 4) return "is not complete";
  const auto port = config::parse_number(line.words[2].text, 65'535);
  const std::string& role = line.words[1].text;
  peer.line = line;
  peer.name = config::lower_case(line.words[0].text);
  peer.at = {peer.name, static_cast<std::uint16_t>(port.value_or(0))};
  peer.parent = role == "parent";
  peer.origin = has_word(line, "originserver");
  // Such a server would be asked for any URL of any site, as if it were a parent.
  if (peer.origin && !accelerators.any) {
    return "no port is an accelerator, so no site is served: \"reverse\": [{ \"host\": \"*\", "
           "\"to\": \"" +
           config::printable(peer.url(), 80) + "\" }]";
  }
  if (!peer.parent && !peer.origin && role != "sibling") {
    return "there is no multicast: list each peer of the group by itself";
  }
  for (std::size_t i = 4; i < line.words.size(); ++i) {
    read_option(peer, line.words[i].text, findings);
  }
  if (peer.at.port == 0 || !config::parse_server_url(peer.url())) {
    return "it has no host and port that are understood";
  }
  if (line.conditional) return "it depends on a condition";
  if (!peer.parent && !peer.origin && peer.no_digest) {
    findings.changed(
        line,
        "a sibling is asked for what its digest claims, so it has to have one: in Squid, "
        "digest_generation on");
  }
  return {};
}

constexpr std::size_t kMostParents = 32;
constexpr std::size_t kMostPeers = 1'000;
constexpr std::size_t kMostHosts = 256;  // of one peer

bool is_parent(const CachePeer& peer) {
  return peer.parent && !peer.origin;
}

bool is_named(const CachePeer& peer) {
  return config::is_token(peer.name) && peer.name.size() <= 64 && peer.name != peer.at.host;
}

// The name that the settings give, or would give by default.
std::string name_in_settings(const CachePeer& peer) {
  return is_named(peer) ? peer.name : config::default_name(peer.at.host, peer.at.port);
}

// Why the settings would not take the peer beside the others; empty if they would.
std::string reason_to_leave(const CachePeer& peer, const std::vector<CachePeer>& peers,
                            const Listening& listening) {
  for (const auto& own : listening.sockets) {
    // A proxy that is its own parent would ask itself again and again.
    if (config::is_ourselves(peer.at, own)) return "it is where we listen ourselves";
  }
  std::size_t parents = 0;
  for (const CachePeer& other : peers) {
    parents += is_parent(other) ? 1 : 0;
    if (other.origin || peer.origin) {  // one server may have several sites
      if (other.name == peer.name) return "another peer has its name";
      continue;
    }
    if (other.at == peer.at) return "another line has the same host and port";
    if (name_in_settings(other) == name_in_settings(peer)) return "another peer has its name";
  }
  if (is_parent(peer) && parents == kMostParents) return "there are 32 parents at most";
  return peers.size() == kMostPeers ? "there are 1000 peers at most" : "";
}

// The hosts of a line "ACTION ACL" from the word `at` on; none unless its acl names hosts only.
Hosts hosts_of(const Line& line, std::string_view action, std::size_t at, const Acls& acls) {
  const bool known = line.words.size() == at + 2 && line.words[at].text == action;
  const auto found = known && !line.conditional ? acls.find(line.words[at + 1].text) : acls.end();
  return found == acls.end() ? Hosts{} : found->second.only_hosts();
}

// One step of a list that chooses a peer: the first whose hosts have that of the request decides.
struct ChoiceStep {
  bool allows;
  bool every;
  Hosts hosts;  // none: the step asks for something else
};

// "cache_peer_access NAME allow|deny ACL", "cache_peer_domain NAME DOMAIN !DOMAIN ...".
std::vector<ChoiceStep> steps_of(const Line& line, const Acls& acls) {
  std::vector<ChoiceStep> steps;
  if (line.name == "cache_peer_access") {
    const bool allows = line.words.size() > 1 && line.words[1].text == "allow";
    const std::string action = line.words.size() > 1 ? line.words[1].text : "";
    const bool every = is_for_all(line, allows ? "allow" : "deny", 1);
    return {{allows, every, hosts_of(line, action, 1, acls)}};
  }
  for (std::size_t i = 1; i < line.words.size(); ++i) {
    std::string_view domain = line.words[i].text;
    const bool except = domain.starts_with('!');
    if (except) domain.remove_prefix(1);
    steps.push_back({!except, false, line.conditional ? Hosts{} : hosts_of_domain(domain)});
  }
  return steps;
}

// Chooses the hosts of a peer by "for" and "not_for". These can say it if all steps that deny
// precede all that allow. Returns why they cannot say it; empty: they can.
std::string_view choose(CachePeer& peer, std::vector<ChoiceStep> steps) {
  if (steps.empty()) return {};
  bool rest = !steps.back().allows;  // of hosts that no step names, as in Squid
  const auto end =
      std::find_if(steps.begin(), steps.end(), [](const ChoiceStep& step) { return step.every; });
  if (end != steps.end()) rest = end->allows;
  steps.erase(end, steps.end());
  // Steps that do what is done without them may ask for anything.
  while (!steps.empty() && steps.back().allows == rest) steps.pop_back();
  for (const ChoiceStep& step : steps) {
    if (step.hosts.empty() || (!step.allows && !peer.for_hosts.empty())) {
      return peer.origin ? "settings cannot say for which requests it is asked: an origin is "
                           "chosen by the site alone, \"host\" of \"reverse\""
                         : "settings cannot say for which requests it is asked: a peer is chosen "
                           "by hosts only, \"for\" and \"not_for\"";
    }
    if (!append_new(step.allows ? peer.for_hosts : peer.not_for, step.hosts)) {
      return "it is for more hosts than settings can list (256)";
    }
  }
  return rest || !peer.for_hosts.empty() ? "" : "cache_peer_access lets no request go there";
}

// If the settings would ask a peer for more than its lines say, the peer is left out.
bool stays(CachePeer& peer, const std::vector<Line>& lines, const Acls& acls, Findings& findings) {
  std::vector<ChoiceStep> steps;
  std::set<std::string_view> kinds;
  for (const Line& line : lines) {
    const bool chooses = line.name == "cache_peer_access" || line.name == "cache_peer_domain";
    if (!chooses || line.words.empty() || line.words[0].text != peer.name) continue;
    kinds.insert(line.name);
    for (ChoiceStep& step : steps_of(line, acls)) steps.push_back(std::move(step));
  }
  const auto why = kinds.size() > 1 ? "lines of both kinds say for which hosts it is asked"
                                    : choose(peer, std::move(steps));
  if (why.empty()) return true;
  const bool same = why.starts_with("cache_peer_access");  // as in Squid
  findings.add(peer.line, same ? Fate::changed : Fate::left,
               "the peer is left out: " + std::string(why));
  return false;
}

// Returns whether some lines make hosts need no parent.
bool read_always_direct(const std::vector<Line>& lines, const Acls& acls,
                        std::vector<CachePeer>& peers, Findings& findings) {
  bool any = false;
  for (const Line& line : lines) {
    if (line.name != "always_direct") continue;
    if (is_for_all(line, "deny")) break;
    const auto hosts = hosts_of(line, "allow", 0, acls);
    bool all = !hosts.empty();
    any = any || all;
    for (CachePeer& peer : peers) all = all && append_new(peer.not_for, hosts);
    if (!all) findings.left(line, "peers know up to 256 hosts only: \"not_for\" of each peer");
  }
  return any;
}

// What "never_direct" is; null: no line says so.
Json read_never_direct(const std::vector<Line>& lines, const Acls& acls, bool has_parent,
                       bool has_exceptions, Findings& findings) {
  Hosts hosts;
  for (const Line& line : lines) {
    if (line.name != "never_direct") continue;
    if (is_for_all(line, "deny")) break;
    const auto more = hosts_of(line, "allow", 0, acls);
    const bool all = is_for_all(line, "allow");
    has_exceptions = has_exceptions || line.words.empty() || line.words[0].text != "allow";
    if (!has_parent) {
      findings.left(line, "there is no parent");
    } else if (all && has_exceptions) {
      findings.left(
          line,
          "never_direct has no exceptions, and other lines make some: the origin is asked once "
          "all parents have failed");
    } else if (all) {
      return "all";
    } else if (more.empty() || !append_new(hosts, more)) {
      findings.left(line, "never_direct names up to 256 hosts only");
    }
    if (all) break;
  }
  return hosts.empty() ? Json() : Json(hosts);
}

Json written(const CachePeer& peer) {
  Json json{{"url", peer.url()}, {"role", peer.parent ? "parent" : "sibling"}};
  if (is_named(peer)) json["name"] = peer.name;
  if (peer.parent && peer.no_digest) json["digest"] = "none";
  if (peer.parent && peer.weight > 1) json["weight"] = peer.weight;
  if (!peer.for_hosts.empty()) json["for"] = peer.for_hosts;
  if (!peer.not_for.empty()) json["not_for"] = peer.not_for;
  if (!peer.login.empty()) json["login"] = peer.login;
  add_comment(json, origin_of(peer.line.source));
  return json;
}

}  // namespace

bool append_new(Hosts& into, const Hosts& more) {
  for (const std::string& host : more) {
    if (std::find(into.begin(), into.end(), host) != into.end()) continue;
    if (into.size() == kMostHosts) return false;
    into.push_back(host);
  }
  return true;
}

void read_peers(const std::vector<Line>& lines, const Acls& acls, const Listening& listening,
                Json& into, Findings& findings) {
  std::vector<CachePeer> peers;
  for (const Line& line : lines) {
    if (line.name != "cache_peer") continue;
    CachePeer peer;
    auto why = read_peer(line, listening.accelerators, peer, findings);
    if (why.empty()) why = reason_to_leave(peer, peers, listening);
    if (!why.empty()) {
      findings.left(line, std::move(why));
    } else {
      peers.push_back(std::move(peer));
    }
  }
  std::erase_if(peers, [&](CachePeer& peer) { return !stays(peer, lines, acls, findings); });
  const bool has_exceptions = read_always_direct(lines, acls, peers, findings);
  const auto parent = std::find_if(peers.begin(), peers.end(), is_parent);
  Json never;
  if (listening.accelerators.forwards) {
    never = read_never_direct(lines, acls, parent != peers.end(), has_exceptions, findings);
  } else {
    for (const Line& line : lines) {
      if (line.name != "never_direct") continue;
      findings.unneeded(line, "only the sites of \"reverse\" are served");
    }
  }
  if (!never.is_null()) into["never_direct"] = never;
  // Unless told otherwise, Squid sends requests whose responses it never stores right to origins.
  const bool is_told = std::any_of(lines.begin(), lines.end(), [](const Line& line) {
    return line.name == "nonhierarchical_direct" && has_word(line, "off");
  });
  if (parent != peers.end() && !is_told && never.is_null()) {
    findings.changed(parent->line,
                     "requests that Squid sends to origins itself (POST, CONNECT and the like: "
                     "nonhierarchical_direct) go to parents first, too");
  }
  std::vector<CachePeer> origins;
  for (const CachePeer& peer : peers) {
    if (peer.origin) {
      origins.push_back(peer);
    } else {
      into["peers"].push_back(written(peer));
    }
  }
  write_reverse(std::move(origins), listening.accelerators, into, findings);
}

}  // namespace proxy::command::squid
