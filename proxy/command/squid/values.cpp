#include "proxy/command/squid/values.hpp"

#include <algorithm>
#include <string>

#include "config/text.hpp"

namespace proxy::command::squid {
namespace {

using Kind = Finding::Kind;

struct Directive {
  std::string_view name;
  std::string_view values;  // what Hearsay does, too, separated by '|'; empty: nothing like it
  Kind kind;                // of all other values
  std::string_view what;
};

constexpr std::string_view kFresh =
    "see cache.stale_if_error, and min_fresh and max_fresh of rules";
constexpr std::string_view kReload =
    "a client's reload and its validators are heeded; see ignore_client_no_cache of rules";
constexpr std::string_view kEdge =
    "Surrogate-Control is not heeded, and there is no ESI; see cache.targeted";
constexpr std::string_view kHostNames =
    "names of hosts are not judged by their letters; refuse such hosts by access.rules";

constexpr Directive kDirectives[] = {
    {"via", "on", Kind::left, "Via is always sent: it ends loops between proxies"},
    {"prefer_direct", "off", Kind::left,
     "parents are asked before the origin, not after it: leave them out, or limit them by \"for\""},
    {"neighbor_type_domain", "", Kind::left, "a peer has one role, for all hosts"},
    {"htcp_clr_access", "deny all", Kind::left, "there is no HTCP: access.admin may purge by HTTP"},
    {"send_hit", "allow all", Kind::left,
     "what is stored and fresh is sent; write a rule with \"host\", \"paths\" and "
     "\"never_store\": true"},
    {"dns_nameservers", "", Kind::left,
     "names are asked of the servers in /etc/resolv.conf. If these filter, name them there, or "
     "what "
     "they hide is reached"},
    {"hosts_file", "/etc/hosts", Kind::left,
     "names are looked up in /etc/hosts: add the lines of this file there"},
    {"append_domain", "", Kind::left,
     "a host without a dot stays as it is: \"search\" in /etc/resolv.conf resolves it, but rules "
     "and acls see the short name"},
    {"dns_defnames", "on", Kind::left,
     "a host without a dot is resolved by \"search\" in /etc/resolv.conf, if there is such a line"},
    {"dns_multicast_local", "off", Kind::left, "no names are asked by multicast"},
    {"check_hostnames", "off", Kind::left, kHostNames},
    {"allow_underscore", "on", Kind::left, kHostNames},
    {"uri_whitespace", "deny", Kind::changed, "a request whose URL has white space is refused"},
    {"client_lifetime", "1 day|1440 minutes|24 hours", Kind::left,
     "a connection has no longest time; see timeouts"},
    {"forward_timeout", "4 minutes", Kind::left,
     "see timeouts.connect, timeouts.first_byte and timeouts.unreachable"},
    {"write_timeout", "15 minutes", Kind::left, "timeouts.body limits how long a client may stall"},
    {"request_start_timeout", "5 minutes", Kind::left, "see timeouts.head and timeouts.keep_alive"},
    {"forward_max_tries", "25", Kind::left, "all addresses of an origin are tried within timeouts"},
    {"retry_on_error", "off", Kind::left, "an origin's error is passed on, and not asked again"},
    {"connect_retries", "0", Kind::left, "a connection that fails is not tried again"},
    {"half_closed_clients", "off", Kind::left,
     "a client that closes its side during a request may be taken as gone"},
    {"minimum_object_size", "0|0 kb", Kind::left, "responses of all sizes are stored"},
    {"max_stale", "", Kind::left, kFresh},
    {"minimum_expiry_time", "60 seconds|1 minute", Kind::left, kFresh},
    {"cache_store_log", "none", Kind::left, "there is no log of what is stored; see /metrics"},
    {"client_persistent_connections", "on", Kind::left, "connections of clients are kept open"},
    {"server_persistent_connections", "on", Kind::left, "connections to origins are kept open"},
    {"reload_into_ims", "off", Kind::left, kReload},
    {"refresh_all_ims", "off", Kind::left, kReload},
    {"ie_refresh", "off", Kind::left, kReload},
    {"vary_ignore_expire", "off", Kind::left, "Expires counts under Vary, too"},
    {"http_accel_surrogate_remote", "off", Kind::left, kEdge},
    {"httpd_accel_surrogate_id", "", Kind::left, kEdge},
    {"esi_parser", "", Kind::left, kEdge},
    {"host_verify_strict", "off", Kind::left,
     "the URL of a request decides, whatever its Host field says (RFC 9112 section 3.2.2)"},
    {"configuration_includes_quoted_values", "off", Kind::left,
     "quotes are read as without this line: look whether values in quotes are meant"},
    {"request_entities", "on", Kind::left, "requests by GET and HEAD may have bodies"},
    {"chroot", "none", Kind::left, "the setting sandbox limits files instead"},
    {"http_upgrade_request_protocols", "", Kind::left,
     "WebSocket passes, if the origin takes it, and no other protocol"},
    {"proxy_protocol_access", "deny all", Kind::left, "there is no PROXY protocol"}};

// The values of the line in small letters, with single blanks.
std::string value_of(const Line& line) {
  std::string value;
  for (const Word& word : line.words) value += (value.empty() ? "" : " ") + word.text;
  return config::lower_case(value);
}

}  // namespace

bool lists(std::string_view list, std::string_view item) {
  while (!list.empty()) {
    const auto end = std::min(list.find('|'), list.size());
    if (list.substr(0, end) == item) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

std::optional<Advice> advice_by_value(const Line& line) {
  for (const Directive& directive : kDirectives) {
    if (directive.name != line.name) continue;
    if (lists(directive.values, value_of(line)))
      return Advice{Kind::unneeded, "it is so here, too"};
    return Advice{directive.kind, directive.what};
  }
  return std::nullopt;
}

}  // namespace proxy::command::squid
