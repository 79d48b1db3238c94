#include "proxy/command/squid/acl.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "config/text.hpp"
#include "proxy/command/squid/lines.hpp"

namespace proxy::command::squid {
namespace {

constexpr std::size_t kMostNetworks = 1'000;
constexpr std::size_t kMostItems = 256;  // of a list in access.rules

using Texts = std::vector<std::string>;

// All lines of one acl.
struct Collected {
  Line first;
  std::string type;
  Texts values;
  Texts files;  // that the values come from
  bool has_own_values = false;
  bool ignores_case = false;
  std::string why_unknown;
};

void add_file(Collected& acl, const std::string& path, const Files& files) {
  acl.files.push_back(path);
  const auto text = files.read(path);
  if (!text) acl.why_unknown = "the file " + config::in_quotes(path) + " cannot be read";
  std::string_view rest = text ? *text : std::string_view();
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
    } else if (word.text == "-i" || word.text == "+i") {
      acl.ignores_case = word.text == "-i";
    } else if (word.text != "-n" && word.text != "--") {
      acl.values.push_back(word.text);
      acl.has_own_values = true;
    }
  }
}

// What `parse` makes of each value. A value of which it makes nothing is left out.
template <class Parse>
auto parsed(const Collected& acl, Acl& into, const Parse& parse) {
  decltype(parse(std::string())) all;
  for (const std::string& value : acl.values) {
    const auto more = parse(value);
    if (more.empty() && into.left_out.empty()) into.left_out = value;
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

void set_unknown(Acl& acl, std::string why) {
  acl.kind = Acl::Kind::unknown;
  acl.why = std::move(why);
  acl.urls.reset();
}

template <class T>
void set_condition(Acl& acl, std::optional<std::vector<T>>& condition, std::vector<T> values,
                   std::size_t most = kMostItems) {
  if (values.size() > most) {
    return set_unknown(acl, "it has more values than a rule takes (" + std::to_string(most) + ")");
  }
  acl.kind = values.empty() ? Acl::Kind::none : Acl::Kind::conditions;
  if (!values.empty()) condition = std::move(values);
}

config::Networks networks_of(const std::string& value) {
  return parse_addresses(value).value_or(config::Networks{});
}

// No client has an address of 0.0.0.0/8, which stock files name all the same.
bool is_this_network(const config::Network& network) {
  return network.prefix >= 104 && config::is_v4(network.address) && network.address[12] == 0;
}

void read_addresses(const Collected& lines, Acl& acl, bool of_clients) {
  auto networks = parsed(lines, acl, networks_of);
  if (of_clients) std::erase_if(networks, is_this_network);
  if (networks.size() > kMostNetworks) return set_unknown(acl, "it has too many networks");
  networks = simplified(networks);
  if (is_every_address(networks)) {
    acl.kind = Acl::Kind::every;
  } else if (of_clients) {
    set_condition(acl, acl.conditions.clients, std::move(networks), kMostNetworks);
  } else {
    acl.kind = networks.empty() ? Acl::Kind::none : Acl::Kind::destinations;
    acl.destinations = std::move(networks);
  }
}

void read_hosts(const Collected& lines, Acl& acl) {
  const bool is_regex = lines.type == "dstdom_regex";
  auto hosts = parsed(lines, acl, [is_regex](const std::string& value) {
    return is_regex ? hosts_of(value).value_or(Texts{}) : hosts_of_domain(value);
  });
  const bool from_a_file = lines.files.size() == 1 && !lines.has_own_values && !is_regex;
  if (hosts.size() > kMostItems && from_a_file && acl.left_out.empty()) {
    acl.hosts_file = lines.files.front();
  }
  set_condition(acl, acl.conditions.to, std::move(hosts));
}

void read_port(const Collected& lines, Acl& acl) {
  auto ports = parsed(lines, acl, [](const std::string& value) -> std::vector<Ports> {
    const auto dash = value.find('-');
    const auto first = config::parse_number(value.substr(0, dash), 65'535);
    const auto last =
        dash == value.npos ? first : config::parse_number(value.substr(dash + 1), 65'535);
    if (!first || !last || *first > *last || *last == 0) return {};
    return {{std::max(static_cast<unsigned>(*first), 1U), static_cast<unsigned>(*last)}};
  });
  const bool every = other_ports(ports).empty();
  set_condition(acl, acl.conditions.ports, std::move(ports));
  if (!every || acl.kind != Acl::Kind::conditions) return;
  acl.kind = Acl::Kind::every;
  acl.conditions = {};
}

void read_method(const Collected& lines, Acl& acl) {
  auto methods = parsed(lines, acl, [](const std::string& value) -> Texts {
    std::string upper = value;  // Squid compares the known methods without regard to case
    for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return config::is_token(value) && value.size() <= 32 ? Texts{upper} : Texts{};
  });
  set_condition(acl, acl.conditions.methods, std::move(methods));
}

void read_proto(const Collected& lines, Acl& acl) {
  const auto has = [&](std::string_view scheme) {
    return std::any_of(lines.values.begin(), lines.values.end(), [&](const std::string& value) {
      return config::lower_case(value) == scheme;
    });
  };
  if (has("https")) {
    return set_unknown(acl,
                       "to Hearsay every CONNECT is https, to Squid none is; name the methods");
  }
  set_condition(acl, acl.conditions.schemes, has("http") ? Texts{"http"} : Texts{});
  if (has("cache_object") && !has("http")) acl.kind = Acl::Kind::manager;
}

// Of "MTWHF", "D" and so on; 0: no days.
unsigned days_of(const std::string& word) {
  constexpr std::string_view kLetters = "MTWHFAS";
  unsigned days = 0;
  for (const char letter : word) {
    const auto day = kLetters.find(letter);
    if (letter != 'D' && day == kLetters.npos) return 0;
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
  unsigned days = 0;  // that no hours have followed yet
  for (const std::string& value : lines.values) {
    if (days != 0 && days_of(value) != 0) all.push_back({days});
    if (days_of(value) != 0) {
      days = days_of(value);
      continue;
    }
    const auto dash = std::min(value.find('-'), value.size());
    const auto begin = minute_of(value.substr(0, dash));
    const auto end = dash == value.size() ? std::nullopt : minute_of(value.substr(dash + 1));
    if (!begin || !end || *begin > *end) {
      acl.left_out = value;
    } else if (*begin < 24 * 60) {
      all.push_back({days != 0 ? days : 0x7fU, *begin, std::min(*end + 1, 24U * 60)});
    }
    days = 0;
  }
  if (days != 0) all.push_back({days});
  set_condition(acl, acl.conditions.hours, std::move(all));
}

void read_users(const Collected& lines, Acl& acl, Users known) {
  if (known == Users::unknown) {
    return set_unknown(acl,
                       "users are known from an htpasswd file only (auth_param basic program "
                       "basic_ncsa_auth FILE)");
  }
  auto users = parsed(lines, acl, [](const std::string& value) -> Texts {
    // "*" is to Squid the name of a user, to Hearsay every user
    const bool plain = config::is_token(value) && value.size() <= 64 && value != "*";
    return plain ? Texts{value == "REQUIRED" ? "*" : value} : Texts{};
  });
  const bool all = std::find(users.begin(), users.end(), "*") != users.end();
  if (lines.ignores_case && !all) {
    return set_unknown(acl, "Hearsay compares the names of users with regard to case (-i)");
  }
  set_condition(acl, acl.conditions.users, all ? Texts{"*"} : std::move(users));
}

// An acl whose URLs are known in part is left out where it is used.
void read_urls(const Collected& lines, Acl& acl) {
  set_unknown(
      acl,
      "access rules name hosts, not URLs; a file of access.block may list the beginnings of "
      "URLs");
  const auto patterns_of = lines.type == "url_regex" ? url_patterns_of : path_patterns_of;
  UrlPatterns all;
  for (const std::string& value : lines.values) {
    const auto more = patterns_of(value);
    if (!more || !more->exact) return;
    all.patterns.insert(all.patterns.end(), more->patterns.begin(), more->patterns.end());
  }
  acl.urls = std::move(all);
}

struct Reason {
  std::string_view types;  // separated by '|'
  std::string_view why;
};

constexpr std::array kReasons{
    Reason{"urllogin", "access rules name hosts, not URLs"},
    Reason{"browser|referer_regex|req_header|rep_header|req_mime_type|rep_mime_type|http_status",
           "access rules do not look at header fields"},
    Reason{"maxconn",
           "the number of connections is no condition; limits.connections_per_client bounds it"},
    Reason{"max_user_ip", "the number of a user's addresses is no condition"},
    Reason{"external|ext_user", "no other program decides on access"},
    Reason{"proxy_auth_regex", "rules name users in full"},
    Reason{"ident|ident_regex", "there is no ident; rules name users that have a password"},
    Reason{"srcdomain|srcdom_regex",
           "rules name clients by address; clients' names are not looked up"},
    Reason{"arp|eui64", "rules name clients by address, not by their hardware's"},
    Reason{"localport|myportname|localip", "every port and address of listen has the same rules"},
    Reason{"any-of", "write one rule for each of its acls"},
    Reason{"all-of", "write its acls into each rule that uses it"},
    Reason{"random", "rules leave nothing to chance"}};

void read_type(const Collected& lines, Acl& acl, Users users) {
  const std::string& type = lines.type;
  if (type == "src" || type == "dst") return read_addresses(lines, acl, type == "src");
  if (type == "dstdomain" || type == "dstdom_regex") return read_hosts(lines, acl);
  if (type == "port") return read_port(lines, acl);
  if (type == "method") return read_method(lines, acl);
  if (type == "proto") return read_proto(lines, acl);
  if (type == "time") return read_time(lines, acl);
  if (type == "url_regex" || type == "urlpath_regex") return read_urls(lines, acl);
  if (type == "proxy_auth") return read_users(lines, acl, users);
  const auto* const found = std::find_if(kReasons.begin(), kReasons.end(), [&](const Reason& each) {
    return lists(each.types, type);
  });
  set_unknown(acl, std::string(found == kReasons.end() ? "access rules have no such condition"
                                                       : found->why));
}

using AllCollected = std::map<std::string, Collected, NameOrder>;

// Whether Squid asks for a user to decide on the acl itself.
bool is_about_users(const Collected& acl, const std::vector<Line>& lines) {
  if (acl.type != "external") return lists("proxy_auth|proxy_auth_regex|max_user_ip", acl.type);
  return std::any_of(lines.begin(), lines.end(), [&](const Line& line) {
    return line.name == "external_acl_type" && !line.words.empty() && !acl.values.empty() &&
           line.words[0].text == acl.values[0] &&
           (line.text.find("%LOGIN") != line.text.npos || line.text.find("%ul") != line.text.npos);
  });
}

// Likewise, or on one that is in it. Of acls in acls in it, no more is known.
bool may_ask_for_user(const Collected& acl, const AllCollected& all,
                      const std::vector<Line>& lines) {
  constexpr std::string_view kGroups = "any-of|all-of";
  if (!lists(kGroups, acl.type)) return is_about_users(acl, lines);
  return std::any_of(acl.values.begin(), acl.values.end(), [&](const std::string& name) {
    const auto found = all.find(name.substr(name.starts_with('!') ? 1 : 0));
    return found != all.end() &&
           (lists(kGroups, found->second.type) || is_about_users(found->second, lines));
  });
}

// The acls that Squid defines, which files may extend.
AllCollected built_in() {
  AllCollected acls;
  const auto add = [&](const char* name, const char* type, Texts values) {
    acls[name].type = type;
    acls[name].values = std::move(values);
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

bool is_for_all(const Line& line, std::string_view action, std::size_t at) {
  return line.words.size() == at + 2 && line.words[at].text == action &&
         config::lower_case(line.words[at + 1].text) == "all" && !line.conditional;
}

Acls read_acls(const std::vector<Line>& lines, const Files& files, Users users,
               Findings& findings) {
  auto collected = built_in();
  for (const Line& line : lines) {
    if (line.name != "acl" || line.words.size() < 2) continue;
    if (config::lower_case(line.words[0].text) == "manager") continue;
    Collected& acl = collected[line.words[0].text];
    if (acl.first.name.empty()) acl.first = line;
    if (acl.type.empty()) acl.type = line.words[1].text;
    if (acl.type != line.words[1].text) acl.why_unknown = "its lines have different types";
    if (line.conditional) acl.why_unknown = "it depends on a condition";
    add_values(acl, line, files);
  }
  Acls acls;
  for (const auto& [name, lines_of_acl] : collected) {
    Acl& acl = acls[name];
    read_type(lines_of_acl, acl, users);
    if (may_ask_for_user(lines_of_acl, collected, lines)) {
      acl.asks = users == Users::known ? Acl::Asks::user : Acl::Asks::unknown_user;
    }
    if (!lines_of_acl.why_unknown.empty()) set_unknown(acl, lines_of_acl.why_unknown);
    if (acl.left_out.empty()) continue;
    findings.left(
        lines_of_acl.first,
        "the value " + config::in_quotes(acl.left_out) +
            " has no equal; where the acl allows, it is left out, and where it denies, all are "
            "denied (with --wider it is left out there, too)");
  }
  return acls;
}

}  // namespace proxy::command::squid
