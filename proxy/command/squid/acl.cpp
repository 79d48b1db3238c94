#include "proxy/command/squid/acl.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "config/text.hpp"

namespace proxy::command::squid {
namespace {

constexpr std::size_t kMostNetworks = 1'000;
constexpr std::size_t kMostItems = 256;  // of a list in access.rules

using Texts = std::vector<std::string>;

// All lines of one acl.
struct AclLines {
  Line first;
  std::string type;
  Texts values;
  Texts files;  // that the values come from
  bool has_own_values = false;
  bool ignores_case = false;
  std::string unknown;
};

using AllAclLines = std::map<std::string, AclLines, boost::beast::iless>;

void add_file(AclLines& acl, const std::string& path, const Files& files) {
  acl.files.push_back(path);
  const auto text = files.read(path);
  if (!text) acl.unknown = "the file " + config::in_quotes(path) + " cannot be read";
  std::string_view rest = text ? *text : std::string_view();
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto words = words_of(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (words.empty()) continue;
    if (acl.values.size() == kMostLines) {
      acl.unknown = "it has too many values";
      return;
    }
    std::string& value = acl.values.emplace_back(words.front().text);
    for (std::size_t i = 1; i < words.size(); ++i) value += ' ' + words[i].text;
  }
}

void add_values(AclLines& acl, const Line& line, const Files& files) {
  for (std::size_t i = 2; i < line.words.size(); ++i) {
    const Word& word = line.words[i];
    if (word.quoted) {
      // To Squid, what stands in quotes is the name of a file of values.
      add_file(acl, word.text, files);
    } else if (word.text == "-i" || word.text == "+i") {
      // Case counts in the names of users alone: hosts, methods and days have none here.
      acl.ignores_case = word.text == "-i";
    } else if (word.text != "-n" && word.text != "--") {
      // Not -n, which forbids to look up names: rules look up none. "--" ends the options.
      acl.values.push_back(word.text);
      acl.has_own_values = true;
    }
  }
}

// No client has an address of 0.0.0.0/8, which stock files name all the same.
bool is_this_network(const Value& value) {
  const auto& network = std::get<config::Network>(value);
  return network.prefix >= 104 && config::is_v4(network.address) && network.address[12] == 0;
}

template <auto parse>
Values values_of(std::string_view value) {
  const auto all = parse(value);
  return {all.begin(), all.end()};
}

Values parse_ports(std::string_view value) {
  const auto dash = value.find('-');
  const auto first = config::parse_number(value.substr(0, dash), 65'535);
  const auto last =
      dash == value.npos ? first : config::parse_number(value.substr(dash + 1), 65'535);
  // No request is for port 0, and the settings have no such port.
  if (!first || !last || *first > *last || *last == 0) return {};
  return {Interval{std::max(static_cast<unsigned>(*first), 1U), static_cast<unsigned>(*last)}};
}

// To Squid, an asterisk is a character of a name like any other.
bool is_name(std::string_view value, std::size_t longest) {
  return config::is_token(value) && value.size() <= longest && value.find('*') == value.npos;
}

Values parse_method(std::string_view value) {
  std::string upper(value);  // Squid compares the known methods without regard to case
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return is_name(value, 32) ? Values{upper} : Values{};
}

Values parse_user(std::string_view value) {
  return is_name(value, 64) ? Values{std::string(value == "REQUIRED" ? "*" : value)} : Values{};
}

// A type of acls whose values are parsed one by one. A value that comes to nothing is left out.
struct Type {
  std::string_view name;
  Aspect aspect;
  Values (*parse)(std::string_view value);
};

constexpr std::array kTypes{Type{"src", Aspect::clients, parse_addresses},
                            Type{"dst", Aspect::destinations, parse_addresses},
                            Type{"dstdomain", Aspect::to, values_of<hosts_of_domain>},
                            Type{"dstdom_regex", Aspect::to, values_of<hosts_of>},
                            Type{"port", Aspect::ports, parse_ports},
                            Type{"method", Aspect::methods, parse_method},
                            Type{"proxy_auth", Aspect::users, parse_user}};

// Sets the only condition of an acl.
void set_condition(Acl& acl, Aspect aspect, Values values) {
  const bool networks = aspect == Aspect::clients || aspect == Aspect::destinations;
  if (networks && values.size() <= kMostNetworks) values = simplified(values);
  const std::size_t most = networks ? kMostNetworks : kMostItems;
  // A condition that all requests meet is none: the short form is easier to read and to compare.
  const bool every =
      is_every_address(values) || (aspect == Aspect::ports && other_ports(values).empty());
  if (values.size() > most && !every) {
    acl.unknown = "it has more values than a rule takes (" + std::to_string(most) + ")";
  } else if (values.empty()) {
    // The settings have no empty list, which would read like no condition.
    acl.when = std::nullopt;
  } else if (!every) {
    acl.when->emplace(aspect, std::move(values));
  }
}

void read_listed(const AclLines& lines, const Type& type, Acl& acl) {
  Values all;
  for (const std::string& value : lines.values) {
    const Values more = type.parse(value);
    // One value is told, as an example: a file may have thousands like it.
    if (more.empty() && acl.left_out.empty()) acl.left_out = value;
    all.insert(all.end(), more.begin(), more.end());
  }
  if (type.aspect == Aspect::clients) std::erase_if(all, is_this_network);
  const bool every_user = std::find(all.begin(), all.end(), Value("*")) != all.end();
  // As in Squid, REQUIRED beside names is every user.
  if (every_user) all = {"*"};
  if (type.aspect == Aspect::users && lines.ignores_case && !every_user) {
    acl.unknown = "Hearsay compares the names of users with regard to case (-i)";
  }
  const bool from_a_file = lines.files.size() == 1 && !lines.has_own_values;
  if (type.name == "dstdomain" && all.size() > kMostItems && from_a_file && acl.left_out.empty()) {
    // A list that is too long for a rule may do as a file of access.block.
    acl.hosts_file = lines.files.front();
  }
  set_condition(acl, type.aspect, std::move(all));
}

void read_proto(const AclLines& lines, Acl& acl) {
  const auto has = [&](std::string_view scheme) {
    return std::any_of(lines.values.begin(), lines.values.end(), [&](const std::string& value) {
      return config::lower_case(value) == scheme;
    });
  };
  if (has("https")) {
    acl.unknown = "to Hearsay every CONNECT is https, to Squid none is; name the methods";
  } else if (has("cache_object") && !has("http")) {
    set_condition(acl, Aspect::pages, {""});
  } else {
    // Other schemes are FTP and the like: Hearsay serves no request for these, so none meets the
    // acl.
    set_condition(acl, Aspect::schemes, has("http") ? Values{"http"} : Values{});
  }
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
  // 24:00 is the end of a day, and no time is after it.
  if (!hours || !minutes || *hours * 60 + *minutes > 24 * 60) return std::nullopt;
  return static_cast<unsigned>(*hours * 60 + *minutes);
}

// "MTWHF 09:00-17:00 S 10:00-12:00"; Squid's last minute is part of the time.
void read_time(const AclLines& lines, Acl& acl) {
  constexpr unsigned kLastMinute = 24 * 60 - 1;
  Values all;
  unsigned days = 0;  // that no hours have followed yet
  for (const std::string& value : lines.values) {
    const unsigned more = days_of(value);
    if (days != 0 && more != 0) all.emplace_back(Interval{0, kLastMinute, days});
    if (more == 0) {
      const auto dash = std::min(value.find('-'), value.size());
      const auto begin = minute_of(value.substr(0, dash));
      const auto end = dash == value.size() ? std::nullopt : minute_of(value.substr(dash + 1));
      if (!begin || !end || *begin > *end) {
        acl.left_out = value;
      } else if (*begin <= kLastMinute) {
        all.emplace_back(Interval{*begin, std::min(*end, kLastMinute), days != 0 ? days : 0x7fU});
      }
    }
    days = more;
  }
  if (days != 0) all.emplace_back(Interval{0, kLastMinute, days});
  set_condition(acl, Aspect::times, std::move(all));
}

void read_urls(const AclLines& lines, Acl& acl) {
  acl.unknown =
      "access rules name hosts, not URLs; a file of access.block may list the beginnings of URLs";
  const auto patterns_of = lines.type == "url_regex" ? url_patterns_of : path_patterns_of;
  UrlPatterns all;
  for (const std::string& value : lines.values) {
    const auto more = patterns_of(value);
    // A part of the URLs would be worse than none: the others would be stored, and nobody be told.
    if (!more) return;
    all.insert(all.end(), more->begin(), more->end());
  }
  acl.urls = std::move(all);
}

struct Inexpressible {
  std::string_view types;  // separated by '|'
  std::string_view why;
};

constexpr std::array kReasons{
    Inexpressible{"urllogin", "access rules name hosts, not URLs"},
    Inexpressible{
        "browser|referer_regex|req_header|rep_header|req_mime_type|rep_mime_type|http_status",
        "access rules do not look at header fields"},
    Inexpressible{
        "maxconn",
        "the number of connections is no condition; limits.connections_per_client bounds it"},
    Inexpressible{"max_user_ip", "the number of a user's addresses is no condition"},
    Inexpressible{"external|ext_user", "no other program decides on access"},
    Inexpressible{"proxy_auth_regex", "rules name users in full"},
    Inexpressible{"ident|ident_regex", "there is no ident; rules name users that have a password"},
    Inexpressible{"srcdomain|srcdom_regex",
                  "rules name clients by address; clients' names are not looked up"},
    Inexpressible{"arp|eui64", "rules name clients by address, not by their hardware's"},
    Inexpressible{"localport|myportname|localip",
                  "every port and address of listen has the same rules"},
    Inexpressible{"any-of", "write one rule for each of its acls"},
    Inexpressible{"all-of", "write its acls into each rule that uses it"},
    Inexpressible{"random", "rules leave nothing to chance"},
    Inexpressible{"", "access rules have no such condition"}};

void read_type(const AclLines& lines, Acl& acl, Users users) {
  const std::string& type = lines.type;
  if (type == "proto") return read_proto(lines, acl);
  if (type == "time") return read_time(lines, acl);
  if (type == "url_regex" || type == "urlpath_regex") return read_urls(lines, acl);
  if (type == "proxy_auth" && users == Users::unknown) {
    acl.unknown =
        "users are known from an htpasswd file only (auth_param basic program basic_ncsa_auth "
        "FILE)";
    return;
  }
  const auto* const listed = std::find_if(kTypes.begin(), kTypes.end(),
                                          [&](const Type& each) { return each.name == type; });
  if (listed != kTypes.end()) return read_listed(lines, *listed, acl);
  const auto* reason = kReasons.begin();
  // The last reason has no types, and ends the search.
  while (!reason->types.empty() && !lists(reason->types, type)) ++reason;
  acl.unknown = std::string(reason->why);
}

// Whether Squid may ask for a user to decide on the acl, or on one that is in it. Of acls in acls
// in it, no more is known.
bool may_ask_for_user(const AclLines& acl, const AllAclLines& all, const std::vector<Line>& lines,
                      bool is_inner = false) {
  const auto first = acl.values.empty() ? "" : acl.values.front();
  if (acl.type == "external") {
    return std::any_of(lines.begin(), lines.end(), [&](const Line& line) {
      return line.name == "external_acl_type" && !line.words.empty() &&
             line.words[0].text == first &&
             (line.text.find("%LOGIN") != line.text.npos ||
              line.text.find("%ul") != line.text.npos);
    });
  }
  if (!lists("any-of|all-of", acl.type)) {
    return lists("proxy_auth|proxy_auth_regex|max_user_ip", acl.type);
  }
  return is_inner ||
         std::any_of(acl.values.begin(), acl.values.end(), [&](const std::string& name) {
           const auto found = all.find(name.substr(name.starts_with('!') ? 1 : 0));
           return found != all.end() && may_ask_for_user(found->second, all, lines, true);
         });
}

// The acls that Squid defines, which files may extend.
AllAclLines built_in() {
  AllAclLines acls;
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

std::vector<std::string> Acl::only_hosts() const {
  const bool only = unknown.empty() && left_out.empty() && when && when->size() == 1;
  const auto to = only ? when->find(Aspect::to) : Conditions::const_iterator();
  return only && to != when->end() ? texts_of(to->second, Aspect::to) : Texts{};
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
    // Older files define it in the ways of their versions; all mean the proxy's own pages.
    if (config::lower_case(line.words[0].text) == "manager") continue;
    AclLines& acl = collected[line.words[0].text];
    if (acl.first.name.empty()) acl.first = line;
    if (acl.type.empty()) acl.type = line.words[1].text;
    // Squid does not start with such lines.
    if (acl.type != line.words[1].text) acl.unknown = "its lines have different types";
    // Which of its lines hold, only Squid finds out, when it starts.
    if (line.conditional) acl.unknown = "it depends on a condition";
    add_values(acl, line, files);
  }
  Acls acls;
  for (const auto& [name, lines_of_acl] : collected) {
    Acl& acl = acls[name];
    read_type(lines_of_acl, acl, users);
    if (may_ask_for_user(lines_of_acl, collected, lines)) {
      acl.asks = users == Users::known ? Acl::Asks::user : Acl::Asks::unknown_user;
    }
    if (!lines_of_acl.unknown.empty()) {
      acl.unknown = lines_of_acl.unknown;
      acl.urls.clear();
    }
    for (const std::string& host : acl.only_hosts()) acl.urls.push_back({host, ""});
    if (acl.unknown.empty() && acl.when && acl.when->empty()) acl.urls = {{"*", ""}};
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
