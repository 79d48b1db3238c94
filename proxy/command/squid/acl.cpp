#include "proxy/command/squid/acl.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "config/text.hpp"
#include "proxy/command/squid/networks.hpp"

namespace proxy::command::squid {
namespace {

constexpr std::size_t kMostNetworks = 1'000;
constexpr std::size_t kMostItems = 256;  // of a list in access.rules

// All lines of one acl.
struct Collected {
  Place place;
  std::string line;
  std::string type;
  std::vector<std::string> values;
  std::vector<std::string> files;  // that the values come from
  bool has_own_values = false;
  bool ignores_case = false;
  std::string why_unknown;
};

void add_file(Collected& acl, const std::string& path, const Files& files) {
  acl.files.push_back(path);
  const auto text = files.read(path);
  if (!text) {
    acl.why_unknown = "the file " + config::in_quotes(path) + " cannot be read";
    return;
  }
  std::string_view rest = *text;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto words = words_of(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (words.empty()) continue;
    if (acl.values.size() == kMostLines) {
      acl.why_unknown = "it has too many values";
      return;
    }
    std::string& value = acl.values.emplace_back(words.front().text);
    for (std::size_t i = 1; i < words.size(); ++i) value += ' ' + words[i].text;
  }
}

void add_values(Collected& acl, const Line& line, const Files& files) {
  for (std::size_t i = 2; i < line.words.size(); ++i) {
    const Word& word = line.words[i];
    if (word.quoted) {
      add_file(acl, word.text, files);
    } else if (word.text == "-i") {
      acl.ignores_case = true;
    } else if (word.text == "+i") {
      acl.ignores_case = false;
    } else if (word.text != "-n" && word.text != "--") {
      acl.values.push_back(word.text);
      acl.has_own_values = true;
    }
  }
}

// What a type means whose values are lists of hosts, networks and so on. `take` adds one value to
// `into` and returns whether it could.
template <class T, class Take>
std::vector<T> taken(const Collected& acl, Acl& into, const Take& take) {
  std::vector<T> all;
  for (const std::string& value : acl.values) {
    if (!take(value, all) && into.left_out.empty()) into.left_out = value;
  }
  return all;
}

void be_unknown(Acl& acl, std::string why) {
  acl.kind = Acl::Kind::unknown;
  acl.why = std::move(why);
  acl.urls.reset();
}

template <class T>
void set_condition(Acl& acl, std::optional<std::vector<T>>& condition, std::vector<T> values,
                   std::size_t most) {
  if (values.size() > most) {
    return be_unknown(acl, "it has more values than a rule takes (" + std::to_string(most) + ")");
  }
  acl.kind = values.empty() ? Acl::Kind::none : Acl::Kind::conditions;
  if (!values.empty()) condition = std::move(values);
}

bool take_networks(const std::string& value, config::Networks& into) {
  const auto networks = parse_addresses(value);
  if (networks) into.insert(into.end(), networks->begin(), networks->end());
  return networks.has_value();
}

// No client has an address of 0.0.0.0/8, which stock files name all the same.
bool is_this_network(const config::Network& network) {
  return network.prefix >= 104 && config::is_v4(network.address) && network.address[12] == 0;
}

void read_src(const Collected& lines, Acl& acl) {
  auto networks = taken<config::Network>(lines, acl, take_networks);
  std::erase_if(networks, is_this_network);
  if (networks.size() > kMostNetworks) return be_unknown(acl, "it has too many networks");
  networks = simplified(networks);
  if (is_every_address(networks)) {
    acl.kind = Acl::Kind::every;
  } else {
    set_condition(acl, acl.conditions.clients, std::move(networks), kMostNetworks);
  }
}

void read_dst(const Collected& lines, Acl& acl) {
  auto networks = taken<config::Network>(lines, acl, take_networks);
  if (networks.size() > kMostNetworks) return be_unknown(acl, "it has too many networks");
  acl.destinations = simplified(networks);
  acl.kind = is_every_address(acl.destinations) ? Acl::Kind::every
             : networks.empty()                 ? Acl::Kind::none
                                                : Acl::Kind::destinations;
}

template <class Hosts>
void read_hosts(const Collected& lines, Acl& acl, const Hosts& hosts_of_value) {
  auto hosts = taken<std::string>(lines, acl, [&](const std::string& value, auto& into) {
    const std::optional<std::vector<std::string>> more = hosts_of_value(value);
    if (!more || more->empty()) return false;
    into.insert(into.end(), more->begin(), more->end());
    return true;
  });
  const bool from_a_file = lines.files.size() == 1 && !lines.has_own_values;
  if (hosts.size() > kMostItems && from_a_file && acl.left_out.empty() &&
      lines.type == "dstdomain") {
    acl.hosts_file = lines.files.front();
  }
  set_condition(acl, acl.conditions.to, std::move(hosts), kMostItems);
}

void read_port(const Collected& lines, Acl& acl) {
  auto ports = taken<Ports>(lines, acl, [](const std::string& value, auto& into) {
    const auto dash = value.find('-');
    const auto first = config::parse_number(value.substr(0, dash), 65'535);
    const auto last =
        dash == value.npos ? first : config::parse_number(value.substr(dash + 1), 65'535);
    if (!first || !last || *first > *last) return false;
    const auto least = std::max<std::uint64_t>(*first, 1);
    if (*last > 0) into.push_back({static_cast<unsigned>(least), static_cast<unsigned>(*last)});
    return true;
  });
  set_condition(acl, acl.conditions.ports, std::move(ports), kMostItems);
  if (acl.conditions.ports && other_ports(*acl.conditions.ports).empty()) {
    acl.kind = Acl::Kind::every;
    acl.conditions.ports.reset();
  }
}

void read_method(const Collected& lines, Acl& acl) {
  auto methods = taken<std::string>(lines, acl, [](const std::string& value, auto& into) {
    if (!config::is_token(value) || value.size() > 32) return false;
    std::string upper = value;  // Squid compares the known methods without regard to case
    for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    if (std::find(into.begin(), into.end(), upper) == into.end()) into.push_back(upper);
    return true;
  });
  set_condition(acl, acl.conditions.methods, std::move(methods), kMostItems);
}

void read_proto(const Collected& lines, Acl& acl) {
  bool http = false;
  for (const std::string& value : lines.values) {
    const std::string scheme = config::lower_case(value);
    if (scheme == "cache_object") acl.kind = Acl::Kind::manager;
    http = http || scheme == "http";
    if (scheme == "https") {
      return be_unknown(acl,
                        "to Hearsay every CONNECT is https, to Squid none is; name the methods");
    }
  }
  if (acl.kind == Acl::Kind::manager && !http) return;
  set_condition(acl, acl.conditions.schemes,
                http ? std::vector<std::string>{"http"} : std::vector<std::string>{}, kMostItems);
}

std::optional<unsigned> days_of(const std::string& word) {
  constexpr std::string_view kLetters = "MTWHFAS";
  unsigned days = 0;
  for (const char letter : word) {
    const auto day = kLetters.find(letter);
    if (letter != 'D' && day == kLetters.npos) return std::nullopt;
    days |= letter == 'D' ? 0x1fU : 1U << day;
  }
  return days;
}

std::optional<unsigned> minute_of(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == text.npos) return std::nullopt;
  const auto hours = config::parse_number(text.substr(0, colon), 24);
  const auto minutes = config::parse_number(text.substr(colon + 1), 59);
  if (!hours || !minutes || *hours * 60 + *minutes > 24 * 60) return std::nullopt;
  return static_cast<unsigned>(*hours * 60 + *minutes);
}

// "MTWHF 09:00-17:00 S 10:00-12:00"; Squid's last minute is part of the time.
void read_time(const Collected& lines, Acl& acl) {
  std::vector<Hours> all;
  for (std::size_t i = 0; i < lines.values.size(); ++i) {
    Hours hours;
    if (const auto days = days_of(lines.values[i])) {
      hours.days = *days;
      if (i + 1 < lines.values.size() && lines.values[i + 1].find(':') != std::string::npos) ++i;
    }
    const std::string& value = lines.values[i];
    if (const auto dash = value.find('-'); dash != value.npos) {
      const auto begin = minute_of(value.substr(0, dash));
      const auto end = minute_of(value.substr(dash + 1));
      if (!begin || !end || *begin > *end) {
        acl.left_out = value;
        continue;
      }
      hours.begin = *begin;
      hours.end = std::min(*end + 1, 24U * 60);
      if (hours.begin >= hours.end) continue;
    } else if (!days_of(value)) {
      acl.left_out = value;
      continue;
    }
    all.push_back(hours);
  }
  set_condition(acl, acl.conditions.hours, std::move(all), kMostItems);
}

void read_users(const Collected& lines, Acl& acl, bool has_users) {
  if (!has_users) {
    return be_unknown(acl,
                      "users are known from an htpasswd file only (auth_param basic program "
                      "basic_ncsa_auth FILE)");
  }
  auto users = taken<std::string>(lines, acl, [](const std::string& value, auto& into) {
    const bool plain = !value.empty() && value.size() <= 64 && config::is_token(value) &&
                       value != "*";  // to Squid the name of a user, to Hearsay every user
    if (plain) into.push_back(value == "REQUIRED" ? "*" : value);
    return plain;
  });
  const bool all = std::find(users.begin(), users.end(), "*") != users.end();
  if (lines.ignores_case && !all) {
    return be_unknown(acl, "Hearsay compares the names of users with regard to case (-i)");
  }
  set_condition(acl, acl.conditions.users, all ? std::vector<std::string>{"*"} : std::move(users),
                kMostItems);
}

// An acl whose URLs are known in part is left out where it is used.
void read_urls(const Collected& lines, Acl& acl,
               std::optional<UrlPatterns> (*patterns_of)(std::string_view expression)) {
  be_unknown(acl,
             "access rules name hosts, not URLs; a file of access.block may list the beginnings of "
             "URLs");
  UrlPatterns all;
  for (const std::string& value : lines.values) {
    const auto more = patterns_of(value);
    if (!more || !more->exact) return;
    all.patterns.insert(all.patterns.end(), more->patterns.begin(), more->patterns.end());
  }
  acl.urls = std::move(all);
}

struct Reason {
  std::string_view type;
  std::string_view why;
};

constexpr std::string_view kFields = "access rules do not look at header fields";
constexpr std::array kReasons{
    Reason{"urllogin", "access rules name hosts, not URLs"},
    Reason{"browser", kFields},
    Reason{"referer_regex", kFields},
    Reason{"req_header", kFields},
    Reason{"rep_header", kFields},
    Reason{"req_mime_type", kFields},
    Reason{"rep_mime_type", kFields},
    Reason{"http_status", kFields},
    Reason{"maxconn",
           "the number of connections is no condition; limits.connections_per_client bounds it"},
    Reason{"max_user_ip", "the number of a user's addresses is no condition"},
    Reason{"external", "no other program decides on access"},
    Reason{"ext_user", "no other program decides on access"},
    Reason{"proxy_auth_regex", "rules name users in full"},
    Reason{"ident", "there is no ident; rules name users that have a password"},
    Reason{"ident_regex", "there is no ident; rules name users that have a password"},
    Reason{"srcdomain", "rules name clients by address; clients' names are not looked up"},
    Reason{"srcdom_regex", "rules name clients by address; clients' names are not looked up"},
    Reason{"arp", "rules name clients by address, not by their hardware's"},
    Reason{"eui64", "rules name clients by address, not by their hardware's"},
    Reason{"localport", "every port of listen has the same rules"},
    Reason{"myportname", "every port of listen has the same rules"},
    Reason{"localip", "every address of listen has the same rules"},
    Reason{"any-of", "write one rule for each of its acls"},
    Reason{"all-of", "write its acls into each rule that uses it"},
    Reason{"random", "rules leave nothing to chance"}};

void read_type(const Collected& lines, Acl& acl, bool has_users) {
  const std::string& type = lines.type;
  if (type == "src") return read_src(lines, acl);
  if (type == "dst") return read_dst(lines, acl);
  if (type == "dstdomain") return read_hosts(lines, acl, hosts_of_domain);
  if (type == "dstdom_regex") return read_hosts(lines, acl, hosts_of);
  if (type == "port") return read_port(lines, acl);
  if (type == "method") return read_method(lines, acl);
  if (type == "proto") return read_proto(lines, acl);
  if (type == "time") return read_time(lines, acl);
  if (type == "url_regex") return read_urls(lines, acl, url_patterns_of);
  if (type == "urlpath_regex") return read_urls(lines, acl, path_patterns_of);
  if (type == "proxy_auth") return read_users(lines, acl, has_users);
  const auto* const found = std::find_if(kReasons.begin(), kReasons.end(),
                                         [&](const Reason& reason) { return reason.type == type; });
  const bool known = found != kReasons.end();
  be_unknown(acl, known ? std::string(found->why) : "access rules have no such condition");
}

// The acls that Squid defines, which files may extend.
std::map<std::string, Collected, NameOrder> built_in() {
  std::map<std::string, Collected, NameOrder> acls;
  const auto add = [&](const char* name, const char* type, std::vector<std::string> values) {
    Collected& acl = acls[name];
    acl.type = type;
    acl.values = std::move(values);
  };
  add("all", "src", {"all"});
  add("localhost", "src", {"127.0.0.1", "::1"});
  add("to_localhost", "dst", {"127.0.0.0/8", "0.0.0.0/8", "::1", "::"});
  add("to_linklocal", "dst", {"169.254.0.0/16", "fe80::/10"});
  add("manager", "proto", {"cache_object"});
  add("CONNECT", "method", {"CONNECT"});
  return acls;
}

}  // namespace

const std::vector<std::string>* Acl::only_hosts() const {
  Conditions others = conditions;
  others.to.reset();
  const bool only = kind == Kind::conditions && conditions.to && left_out.empty();
  return only && others.is_always() ? &*conditions.to : nullptr;
}

bool NameOrder::operator()(std::string_view a, std::string_view b) const {
  return config::lower_case(a) < config::lower_case(b);
}

bool is_same_name(std::string_view a, std::string_view b) {
  return config::lower_case(a) == config::lower_case(b);
}

bool is_for_all(const Line& line, std::string_view action, std::size_t at) {
  return line.words.size() == at + 2 && line.words[at].text == action &&
         is_same_name(line.words[at + 1].text, "all") && !line.conditional;
}

Acls read_acls(const std::vector<Line>& lines, const Files& files, bool has_users,
               Findings& findings) {
  auto collected = built_in();
  for (const Line& line : lines) {
    if (line.name != "acl" || line.words.size() < 2) continue;
    const std::string& name = line.words[0].text;
    if (is_same_name(name, "manager")) continue;
    Collected& acl = collected[name];
    if (acl.line.empty()) {
      acl.place = line.place;
      acl.line = line.text;
    }
    if (acl.type.empty()) acl.type = line.words[1].text;
    if (acl.type != line.words[1].text) acl.why_unknown = "its lines have different types";
    if (line.conditional) acl.why_unknown = "it depends on a condition";
    add_values(acl, line, files);
  }
  Acls acls;
  for (const auto& [name, lines_of_acl] : collected) {
    Acl& acl = acls[name];
    read_type(lines_of_acl, acl, has_users);
    acl.asks_for_user = has_users && lines_of_acl.type.starts_with("proxy_auth");
    if (!lines_of_acl.why_unknown.empty()) be_unknown(acl, lines_of_acl.why_unknown);
    if (acl.left_out.empty()) continue;
    findings.push_back({lines_of_acl.place, Finding::Kind::left, lines_of_acl.line,
                        "the value " + config::in_quotes(acl.left_out) +
                            " has no equal; where the acl allows, it is left out, and where it "
                            "denies, all are denied (with --wider it is left out there, too)"});
  }
  return acls;
}

}  // namespace proxy::command::squid
