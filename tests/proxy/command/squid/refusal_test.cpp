// What Squid refuses, the settings of an import refuse: chosen configurations, each tried with
// many requests, against Squid's way to decide.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "proxy/policy/access_rules.hpp"
#include "tests/proxy/command/squid/given_files.hpp"

namespace proxy::command::squid {
namespace {

struct Asked {
  std::string client, host, method, user;
  unsigned port = 80;
  policy::LocalTime now;
};

struct KnownAcl {
  std::string_view name, line;
  bool (*met)(const Asked&);
};

bool starts(const std::string& text, std::string_view with) {
  return text.starts_with(with);
}

const KnownAcl kAcls[] = {
    {"all", "", [](const Asked&) { return true; }},
    {"lan", "src 10.0.0.0/8", [](const Asked& a) { return starts(a.client, "10."); }},
    {"lab", "src 10.7.0.0/16", [](const Asked& a) { return starts(a.client, "10.7."); }},
    {"localhost", "", [](const Asked& a) { return a.client == "127.0.0.1"; }},
    {"site", "dstdomain .site.test",
     [](const Asked& a) { return a.host == "site.test" || a.host.ends_with(".site.test"); }},
    {"page", "dstdomain page.site.test", [](const Asked& a) { return a.host == "page.site.test"; }},
    {"ssl", "port 443", [](const Asked& a) { return a.port == 443; }},
    {"safe", "port 80 443 1025-65535",
     [](const Asked& a) { return a.port == 80 || a.port == 443 || a.port > 1024; }},
    {"CONNECT", "", [](const Asked& a) { return a.method == "CONNECT"; }},
    {"get", "method GET HEAD", [](const Asked& a) { return a.method == "GET"; }},
    {"day", "time MTWHF 08:00-18:00", [](const Asked& a) { return a.now.day < 5; }},
    {"users", "proxy_auth REQUIRED", [](const Asked& a) { return !a.user.empty(); }},
    {"anna", "proxy_auth anna", [](const Asked& a) { return a.user == "anna"; }},
    {"bot", "browser bot", [](const Asked& a) { return a.method == "POST"; }},
    {"ftp", "proto FTP", [](const Asked&) { return false; }},
    // Rules of access can say the first value, not the second.
    {"half", "dstdom_regex ^other\\.test$ ^page",
     [](const Asked& a) { return a.host == "other.test" || starts(a.host, "page"); }},
    {"manager", "", [](const Asked&) { return false; }},
    {"to_localhost", "", [](const Asked&) { return false; }}};

struct AccessLine {
  bool allows;
  bool conditional = false;                            // between "if" and "endif"
  std::vector<std::pair<const KnownAcl*, bool>> acls;  // whether they are negated
};
using List = std::vector<AccessLine>;

// Without the lines that depend on a condition.
List unconditional(List list) {
  std::erase_if(list, [](const AccessLine& line) { return line.conditional; });
  return list;
}

// Squid refuses a request without a user as soon as it has to test one.
bool squid_allows(const List& list, const Asked& asked) {
  for (const AccessLine& line : list) {
    bool met = true;
    for (const auto& [acl, negated] : line.acls) {
      if (acl->line.starts_with("proxy_auth") && asked.user.empty()) return false;
      met = acl->met(asked) != negated;
      if (!met) break;
    }
    if (met) return line.allows;
  }
  return !list.empty() && !list.back().allows;
}

std::string text_of(const List& list, const std::string& directive) {
  std::string text;
  for (const AccessLine& line : list) {
    if (line.conditional) text += "if 1\n";
    text += directive + (line.allows ? " allow" : " deny");
    for (const auto& [acl, negated] : line.acls) {
      text.append(negated ? " !" : " ").append(acl->name);
    }
    text += line.conditional ? "\nendif\n" : "\n";
  }
  return text;
}

class Choice {
 public:
  explicit Choice(unsigned seed) : random_(seed) {}
  std::size_t below(std::size_t end) { return random_() % end; }

  List list(std::size_t most, std::size_t acls) {
    List list(below(most + 1));
    for (AccessLine& line : list) {
      line.allows = below(2) == 0;
      for (std::size_t i = 0; i <= below(3); ++i) {
        const bool negated = below(3) == 0;
        line.acls.emplace_back(kAcls + below(acls), negated);
      }
    }
    return list;
  }

 private:
  std::mt19937 random_;
};

std::vector<Asked> requests() {
  std::vector<Asked> all;
  for (const char* client : {"10.1.0.1", "10.7.0.1", "127.0.0.1", "192.0.2.1"})
    for (const char* host : {"site.test", "page.site.test", "other.test"})
      for (const char* method : {"GET", "POST", "CONNECT"})
        for (const char* user : {"", "anna", "berta"})
          for (const unsigned port : {80U, 443U, 500U, 8080U})
            for (const unsigned day : {1U, 6U})
              all.push_back({client, host, method, user, port, {day, 12 * 60}});
  return all;
}

bool hearsay_allows(const config::AccessSettings& access, const policy::AccessRules& rules,
                    const Asked& asked) {
  const auto address = config::parse_address(asked.client).value();
  const std::string authority = asked.host + ':' + std::to_string(asked.port);
  const bool connect = asked.method == "CONNECT";
  const auto target =
      http::parse_target(asked.method, connect ? authority : "http://" + authority + '/').value();
  const auto has_port = [&](const config::PortRange& range) {
    return range.first <= asked.port && asked.port <= range.last;
  };
  const auto& ports = access.connect_ports;
  if (connect && std::none_of(ports.begin(), ports.end(), has_port)) return false;
  const auto* rule = rules.find({address, target, asked.method, asked.now, asked.user});
  if (rule && rule->has_users() && asked.user.empty()) return false;  // it is asked for one
  return rule ? rule->allows() : config::contains(access.clients, address);
}

bool squid_allows(const List& access, const List& further, const Asked& asked) {
  return squid_allows(access, asked) && (further.empty() || squid_allows(further, asked));
}

struct Count {
  std::size_t by_squid = 0, by_both = 0;
};

// Imports lists of the first `acls` acls, and compares what is allowed.
Count compared(unsigned seed, std::size_t acls, bool others) {
  Choice choice(seed);
  const bool knows_users = !others || seed % 3 != 0;
  std::string text = "auth_param basic program ";
  text += knows_users ? "/x/basic_ncsa_auth /etc/passwd\n" : "/x/basic_ldap_auth\n";
  for (const KnownAcl& acl : kAcls) {
    if (!acl.line.empty())
      text.append("acl ").append(acl.name).append(" ").append(acl.line).append("\n");
  }
  List access = choice.list(6, acls);
  List further = others ? choice.list(3, acls) : List{};
  for (List* const list : {&access, &further})
    for (AccessLine& line : *list) line.conditional = others && choice.below(6) == 0;
  text += text_of(access, "http_access") + text_of(further, "miss_access");
  const auto settings = config::load(imported(text).settings);
  EXPECT_TRUE(settings) << text;
  const policy::AccessRules rules(settings->access.rules);
  Count count;
  for (const Asked& asked : requests()) {
    if (!knows_users && !asked.user.empty()) continue;
    const bool by_squid = squid_allows(access, further, asked) &&
                          squid_allows(unconditional(access), unconditional(further), asked);
    const bool by_hearsay = hearsay_allows(settings->access, rules, asked);
    EXPECT_TRUE(by_squid || !by_hearsay)
        << text << "allows " << asked.client << ' ' << asked.method << ' ' << asked.host << ':'
        << asked.port << ' ' << asked.user << " on day " << asked.now.day << '\n'
        << imported(text).settings;
    count.by_squid += by_squid ? 1 : 0;
    count.by_both += by_squid && by_hearsay ? 1 : 0;
  }
  return count;
}

TEST(SquidRefusal, IsKeptWhateverTheLinesAre) {
  for (unsigned seed = 0; seed < 600 && !HasFailure(); ++seed) {
    compared(seed, std::size(kAcls), seed % 2 == 0);
  }
}

// With acls that all have an equal, little that Squid allows is lost.
TEST(SquidRefusal, IsNotMuchMoreThanSquids) {
  Count all;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const Count count = compared(seed, std::size(kAcls) - 5, false);
    all.by_squid += count.by_squid;
    all.by_both += count.by_both;
  }
  EXPECT_GT(all.by_both * 100, all.by_squid * 85) << all.by_both << " of " << all.by_squid;
}

}  // namespace
}  // namespace proxy::command::squid
