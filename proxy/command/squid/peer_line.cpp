#include <algorithm>
#include <array>
#include <optional>

#include "config/text.hpp"
#include "proxy/command/squid/directives.hpp"
#include "proxy/command/squid/peers.hpp"

namespace proxy::command::squid {
namespace {

using Kind = Finding::Kind;

// What no setting carries over.
struct Option {
  std::string_view names;  // separated by '|'; "=" ends a name that a value follows
  Kind kind;
  std::string_view why;
};

constexpr std::array kOptions{
    Option{"no-query|background-ping|closest-only|no-netdb-exchange|multicast-responder|htcp|"
           "htcp=|no-tproxy|no-delay|allow-miss|connect-fail-limit=|basetime=|standby=|ttl=|"
           "originserver",
           Kind::unneeded, ""},
    Option{"default", Kind::changed,
           "the order of parents is that of the URLs' hashes; it is no last resort"},
    Option{"round-robin|weighted-round-robin|carp|sourcehash|userhash", Kind::changed,
           "parents share the URLs by weight, the same way each time"},
    Option{"proxy-only", Kind::changed,
           "digest.duplicates says for all siblings whether what they hold is stored here, too"},
    Option{"digest-url=", Kind::left, "a Squid's digest is fetched at its usual path"},
    Option{"connect-timeout=", Kind::left, "timeouts.peer_connect is the same for all peers"},
    Option{"max-conn=", Kind::left, "connections to a peer have no limit of their own"},
    Option{"forceddomain=", Kind::left, "the Host field is that of the URL"},
    Option{"login=", Kind::left, "clients' passwords are not passed on; name one login"},
    Option{"front-end-https", Kind::left, "no such field is sent"},
    Option{"sslcert=|sslkey=", Kind::left, "no client certificate is shown to peers"},
    Option{"sslflags=", Kind::left, "a peer's certificate is always verified"},
    Option{"sslcafile=|sslcapath=|tls-ca=|tls-cafile=", Kind::left,
           "certificates are verified by the system's store; add the authority there"}};

constexpr std::array kOptionsOfOrigins{
    Option{"default|no-digest", Kind::unneeded, ""},
    Option{"round-robin|weighted-round-robin|carp|sourcehash|userhash|weight=", Kind::changed,
           "the first origin of \"to\" that works is asked"},
    Option{"login=", Kind::left, "no password is sent to an origin but the client's own"},
    Option{"proxy-only", Kind::left, "write a rule for the site with \"never_store\": true"},
    Option{"connect-timeout=", Kind::left, "timeouts.connect is the same for all origins"}};

template <class Options>
const Option* option_of(const Options& options, std::string_view name) {
  const auto* const found = std::find_if(
      options.begin(), options.end(), [&](const Option& each) { return lists(each.names, name); });
  return found == options.end() ? nullptr : found;
}

bool take_option_of_origin(Peer& peer, std::string_view name, const std::string& value) {
  if (name == "login=") return value == "PASS" || value == "PASSTHRU";
  const auto host = config::parse_host_pattern(value);
  if (name != "forceddomain=" || !host || host->host.starts_with('*')) return false;
  peer.send_host = value;
  return true;
}

bool take_option_of_peer(Peer& peer, std::string_view name, const std::string& value) {
  if (name == "weight=") {
    const auto weight = config::parse_number(value, 1'000).value_or(1);
    peer.weight = std::max<std::uint64_t>(weight, 1);
  } else if (name == "no-digest") {
    peer.no_digest = true;
  } else if (name == "login=" && !value.starts_with('*')) {
    Json one;
    one.add("url", Json::text("http://a"));
    one.add("login", Json::text(value));
    if (!fault_of("", "peers", Json::list({one})).empty()) return false;
    peer.login = value;
  } else {
    return false;
  }
  return true;
}

void take_option(Peer& peer, const std::string& option, Findings& findings) {
  const auto sign = option.find('=');
  const auto name = option.substr(0, sign == option.npos ? sign : sign + 1);
  const auto value = option.substr(name.size());
  if (name == "name=") {
    peer.name = value;
  } else if (name == "ssl" || name == "tls") {
    peer.tls = true;
  } else if (!(peer.origin ? take_option_of_origin : take_option_of_peer)(peer, name, value)) {
    const Option* found = peer.origin ? option_of(kOptionsOfOrigins, name) : nullptr;
    if (!found) found = option_of(kOptions, name);
    if (found && found->kind == Kind::unneeded) return;
    tell(findings, peer.line, found ? found->kind : Kind::left,
         config::printable(option.substr(0, sign), 40) + ": " +
             std::string(found ? found->why : "is not known"));
  }
}

}  // namespace

std::optional<Peer> read_peer(const Line& line, bool has_accelerator, Findings& findings) {
  const auto leave = [&](std::string why) -> std::optional<Peer> {
    tell(findings, line, Kind::left, std::move(why));
    return std::nullopt;
  };
  if (line.words.size() < 4) return leave("is not complete");
  const auto port = config::parse_number(line.words[2].text, 65'535);
  const std::string host = config::lower_case(line.words[0].text);
  const std::string& role = line.words[1].text;
  Peer peer;
  peer.line = line;
  peer.name = host;
  peer.at = {host, static_cast<std::uint16_t>(port.value_or(0))};
  peer.parent = role == "parent";
  peer.origin = has_word(line, "originserver");
  if (peer.origin && !has_accelerator) {
    return leave(
        "no port is an accelerator, so no site is served: \"reverse\": [{ \"host\": \"*\", "
        "\"to\": \"" +
        config::printable(peer.url(), 80) + "\" }]");
  }
  if (!peer.parent && !peer.origin && role != "sibling") {
    return leave("there is no multicast: list each peer of the group by itself");
  }
  for (std::size_t i = 4; i < line.words.size(); ++i) {
    take_option(peer, line.words[i].text, findings);
  }
  if (peer.at.port == 0 || !config::parse_server_url(peer.url())) {
    return leave("it has no host and port that are understood");
  }
  if (line.conditional) return leave("it depends on a condition");
  if (!peer.parent && !peer.origin && peer.no_digest) {
    tell(findings, line, Kind::changed,
         "a sibling is asked for what its digest claims, so it has to have one: in Squid, "
         "digest_generation on");
  }
  return peer;
}

}  // namespace proxy::command::squid
