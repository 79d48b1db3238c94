#include <algorithm>
#include <array>
#include <string>

#include "config/sections.hpp"
#include "config/text.hpp"

namespace config {

namespace {

using Words = std::vector<std::string_view>;

bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::optional<Words> read_networks(Section& in, std::string_view key, Networks& into) {
  constexpr std::string_view kForm =
      "\"loopback\", \"private\", \"link-local\", \"metadata\", \"any\" or \"all\", an address or "
      "a range like \"10.0.0.0/8\" (no bits set beyond its prefix)";
  // What a typing mistake may have meant. A suggestion must not open the proxy, so "any" and "all"
  // are not among them.
  constexpr std::array<std::string_view, 4> kNames{"loopback", "private", "link-local", "metadata"};
  const auto items = in.items(key, "named sets, addresses and ranges, such as \"private\"");
  if (!items) return std::nullopt;
  into.clear();
  Words understood;
  for (const LocatedValue& item : *items) {
    const auto* text = item.text();
    const auto networks = text ? parse_networks(*text) : std::nullopt;
    if (networks) {
      into.insert(into.end(), networks->begin(), networks->end());
      // A view into the document, which outlives the reading.
      understood.push_back(*text);
    } else if (const auto meant = text ? without_bits_beyond(*text) : ""; !meant.empty()) {
      in.fault(item, "has bits set beyond its prefix: " + in_quotes(*text) + "; did you mean " +
                         in_quotes(meant) + '?');
    } else {
      in.expected(item, kForm, kNames);
    }
  }
  return understood;
}

// The words protect more than their addresses: "loopback" covers all addresses of this machine, and
// "link-local" covers metadata services, most of which live there.
void read_deny_to(Section& in, AccessSettings& access) {
  const auto words = read_networks(in, "deny_to", access.deny_to);
  if (!words) return;
  access.deny_to_self = has(*words, "loopback");
  if (!has(*words, "link-local")) return;
  const auto metadata = *parse_networks("metadata");
  access.deny_to.insert(access.deny_to.end(), metadata.begin(), metadata.end());
}

// A pattern would have our own pages answer under hosts of others. A port is none of a name: they
// answer at every socket.
std::optional<std::string> read_own_name(Section& in, const LocatedValue& item) {
  const auto host = in.host_pattern(item);
  if (!host) return std::nullopt;
  if (!host->port && !host->host.starts_with('*')) return host->host;
  in.fault(item, "expected a host name without port and without \"*\"");
  return std::nullopt;
}

// /proxy.pac is told the host alone, and "*" would leave the proxy no request at all.
std::optional<HostSpec> read_direct(Section& in, const LocatedValue& item) {
  const auto host = in.host_pattern(item);
  if (!host || (!host->port && host->host != "*")) return host;
  in.fault(item, "expected a host like \"*.example.com\", without port");
  return std::nullopt;
}

// The realm stands in a quoted string of the challenge (RFC 9110 11.4). Some browsers show an
// escaped quote with its backslash, and agree on no encoding beyond ASCII.
bool is_realm(std::string_view text) {
  constexpr std::size_t kLongest = 128;
  return !text.empty() && text.size() <= kLongest &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
}

void read_users(Section& in, std::optional<UserSettings>& users) {
  const auto found = in.find("users");
  if (!found) return;
  constexpr std::string_view kFile = "the path of a file as htpasswd writes it";
  Section part(*found, in.faults());
  auto& told = users.emplace();
  if (part.is_object() && part.require("file", kFile))
    part.read_parsed("file", told.file, kFile, plain_text);
  part.read_parsed(
      "realm", told.realm,
      "what is shown to a user, of at most 128 ASCII characters without quotes and backslashes",
      text_if(is_realm));
  part.read("cleartext", told.cleartext);
  part.finish();
}

// An operator who lists the clients that may use the proxy means the whole list. The default of
// `clients` would let in others, so it does not apply beside such a list.
void leave_no_default(Section& in, AccessSettings& access) {
  // A rule that only denies leaves the default: it takes from whom the default lets in.
  const bool allows = std::any_of(access.rules.begin(), access.rules.end(),
                                  [](const AccessRule& rule) { return rule.allows; });
  if (allows && !in.find("clients")) access.clients.clear();
}

// Bounded, because every request is compared with all rules.
constexpr std::size_t kMostRules = 256;
constexpr std::size_t kMostItems = 256;

// A list without items would be a condition that no request meets, or one that all meet, and nobody
// can tell which was meant.
void refuse_empty(Section& in, const std::optional<LocatedValue>& empty_list) {
  if (empty_list) in.fault(*empty_list, "is empty; name at least one, or leave it out for all");
}

void read_clients(Section& in, Networks& clients) {
  const auto before = in.faults().size();
  read_networks(in, "clients", clients);
  if (clients.empty() && in.faults().size() == before) refuse_empty(in, in.find("clients"));
}

// Unless it is named, a rule is called by its place in the list, as in the places of faults.
void read_name(Section& in, const std::vector<AccessRule>& others, AccessRule& rule) {
  in.read_token("name", rule.name);
  if (rule.name.empty()) {
    rule.name = std::to_string(others.size());
    return;
  }
  const auto found = in.find("name");
  if (rule.name.find_first_not_of("0123456789") == std::string::npos) {
    return in.fault(*found,
                    "expected a name with a letter in it; numbers are for rules without one");
  }
  const auto twin = std::find_if(others.begin(), others.end(),
                                 [&](const AccessRule& other) { return other.name == rule.name; });
  if (twin == others.end()) return;
  in.fault(*found,
           "is also the name of access.rules[" + std::to_string(twin - others.begin()) + ']');
}

void read_action(Section& in, AccessRule& rule) {
  // Required, since no default is safe: a rule that was meant to deny must not allow.
  if (in.require("action", "\"allow\" or \"deny\"")) {
    in.read_word("action", rule.allows, {{"allow", true}, {"deny", false}});
  }
}

// Port 0 is reserved (RFC 6335 section 6): a rule for it is a mistake.
std::optional<PortRange> parse_ports(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = parse_number(text.substr(0, dash), 65'535);
  const auto last = dash == text.npos ? first : parse_number(text.substr(dash + 1), 65'535);
  if (!first || !last || *first == 0 || *first > *last) return std::nullopt;
  return PortRange{static_cast<std::uint16_t>(*first), static_cast<std::uint16_t>(*last)};
}

std::optional<PortRange> read_port_range(Section& in, const LocatedValue& item) {
  const auto* number = std::get_if<Number>(&item.value->content);
  const auto* text = number ? &number->text : item.text();
  const auto range = text ? parse_ports(*text) : std::nullopt;
  if (!range) {
    in.expected(item, "a port or a range from 1 to 65535, such as \"80\" or \"1025-65535\"");
  }
  return range;
}

// Methods are case-sensitive (RFC 9110 9.1), and all that are registered are in upper case.
bool is_method(const std::string& text) {
  return is_token(text) && text.size() <= 32 &&
         std::none_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

std::optional<std::string> read_scheme(Section& in, const LocatedValue& item) {
  constexpr std::array<std::string_view, 2> kSchemes{"http", "https"};
  const auto* text = item.text();
  if (text && (*text == kSchemes[0] || *text == kSchemes[1])) return *text;
  in.expected(item, "\"http\" or \"https\"", kSchemes);
  return std::nullopt;
}

AccessRule read_rule(Section& in, const std::vector<AccessRule>& others, bool has_user_file) {
  AccessRule rule;
  read_name(in, others, rule);
  read_action(in, rule);
  read_clients(in, rule.clients);
  const std::optional<LocatedValue> empty_lists[] = {
      read_hosts(in, "to", rule.to),
      in.read_list("ports", {"ports, such as \"80\" or \"1025-65535\"", kMostItems}, rule.ports,
                   [&in](const LocatedValue& item) { return read_port_range(in, item); }),
      in.read_texts("methods", {"methods, such as \"GET\"", kMostItems}, rule.methods,
                    "a method in upper case, such as \"GET\" or \"CONNECT\"", text_if(is_method)),
      in.read_list("schemes", {"schemes: \"http\", \"https\"", kMostItems}, rule.schemes,
                   [&in](const LocatedValue& item) { return read_scheme(in, item); }),
      in.read_texts("times", {"times, such as \"mon-fri 08:00-18:00\"", kMostItems}, rule.times,
                    "days and hours, such as \"mon-fri 08:00-18:00\", \"sat,sun\" or "
                    "\"22:00-06:00\"",
                    parse_weekly_time),
      in.read_texts("users", {"names of users, or \"*\" for all", kMostItems}, rule.users,
                    "the name of a user, without a colon, or \"*\"", text_if(is_user_name))};
  for (const auto& list : empty_lists) refuse_empty(in, list);
  // Without a file nobody has a name, so the rule would allow nobody, or deny nobody.
  if (const auto users = in.find("users"); users && !has_user_file) {
    in.fault(*users, "needs access.users, with the \"file\" of the users");
  }
  in.finish();
  return rule;
}

}  // namespace

void read_access(Section& in, AccessSettings& access) {
  in.read_objects(
      "rules", {"objects, each with \"action\"", kMostRules}, access.rules,
      [&](Section& part) { return read_rule(part, access.rules, in.find("users").has_value()); });
  read_users(in, access.users);
  leave_no_default(in, access);
  read_networks(in, "clients", access.clients);
  read_networks(in, "monitor", access.monitor);
  read_networks(in, "admin", access.admin);
  read_networks(in, "peers", access.peers);
  read_deny_to(in, access);
  in.read_list("connect_ports", {"ports, such as 443 or \"8000-8999\""}, access.connect_ports,
               [&in](const LocatedValue& item) { return read_port_range(in, item); });
  in.read_list("own_names", {"host names, such as \"cache-a.example.com\""}, access.own_names,
               [&in](const LocatedValue& item) { return read_own_name(in, item); });
  in.read_list("direct", {"hosts, such as \"*.example.com\"", 256}, access.direct,
               [&in](const LocatedValue& item) { return read_direct(in, item); });
  constexpr std::string_view kFile = "the path of a file";
  in.read_texts("block", {"paths of files"}, access.lists.block, kFile, plain_text);
  in.read_texts("allow", {"paths of files"}, access.lists.allow, kFile, plain_text);
}

}  // namespace config
