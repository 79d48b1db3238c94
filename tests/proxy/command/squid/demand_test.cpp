// Users, and the proxy's own pages.
#include "proxy/command/squid/acl.hpp"

#include "tests/proxy/command/squid/given_access.hpp"

namespace proxy::command::squid {
namespace {

// Squid asks for a password where it meets such an acl, and goes on only with those who have one.
TEST(SquidAccess, LetsOnlyUsersOnBelowALineThatAsksForOne) {
  EXPECT_EQ(access("http_access deny anna\nhttp_access allow lan", kUsers),
            R"("users":{"file":"/etc/passwd"},"rules":[{"deny","users":["anna"]},)"
            R"({"allow","clients":["10.0.0.0/8"],"users":["*"]}],"clients":[])");
  EXPECT_EQ(
      access("http_access allow lab known\nhttp_access allow localhost", kUsers),
      R"("users":{"file":"/etc/passwd"},)"
      R"("rules":[{"allow","clients":["10.7.0.0/16"],"users":["*"]}],"clients":["127.0.0.1","::1"])");
  EXPECT_EQ(access("http_access deny !known\nhttp_access allow lan", kUsers),
            R"("users":{"file":"/etc/passwd"},)"
            R"("rules":[{"allow","clients":["10.0.0.0/8"],"users":["*"]}],"clients":[])");
}

// Squid tests the acls of a line from the left, so it asks even if an acl behind is never met.
TEST(SquidAccess, AsksForAPasswordWhereALineThatNoRequestMeetsDoes) {
  constexpr std::string_view kWithUser =
      R"("users":{"file":"/etc/passwd"},)"
      R"("rules":[{"allow","clients":["10.0.0.0/8"],"users":["*"]}],"clients":[])";
  constexpr std::string_view kWithout =
      R"("users":{"file":"/etc/passwd"},"clients":["10.0.0.0/8"])";
  for (const AccessCase& c :
       {AccessCase{"deny known ftp", kWithUser}, AccessCase{"allow known ftp", kWithUser},
        AccessCase{"deny to_localhost known", kWithUser},
        AccessCase{"allow known manager", kWithUser}, AccessCase{"allow known purge", kWithUser},
        AccessCase{"allow !known lab localhost", kWithUser}, AccessCase{"deny ftp known", kWithout},
        AccessCase{"allow manager known", kWithout}, AccessCase{"deny purge known", kWithout},
        AccessCase{"deny lab localhost known", kWithout}}) {
    const std::string lines = "http_access " + std::string(c.lines) + "\nhttp_access allow lan";
    EXPECT_EQ(access(lines, kUsers), c.access) << c.lines;
  }
}

// Squid asks for the value that has no equal, too.
TEST(SquidAccess, AsksForAPasswordWhereAnAclBeforeLacksAValue) {
  for (const std::string acl :
       {"dstdom_regex ^a\\.example$ ^office", "dstdom_regex ^office", "method PURGE a/b"}) {
    EXPECT_EQ(access("acl part " + acl +
                         "\nhttp_access allow part known\nhttp_access allow lan\n"
                         "http_access allow localhost known",
                     kUsers)
                  .find(R"({"allow","clients":["10.0.0.0/8"]})"),
              std::string::npos)
        << acl;
  }
}

// Without an htpasswd file, nobody passes where Squid asks for a user.
TEST(SquidAccess, IsDeniedWhereSquidAsksForAUserWhomTheSettingsDoNotKnow) {
  constexpr std::string_view kDenied = R"("rules":[{"deny","clients":["10.7.0.0/16"]}],)"
                                       R"("clients":["10.0.0.0/8"])";
  for (const std::string line :
       {"allow lab known", "deny lab !known", "deny lab known ftp", "allow lab pattern",
        "deny lab few", "allow lab group", "allow lab old_group", "allow lab some"}) {
    const std::string lines =
        "external_acl_type ldap %LOGIN /lib/group\nexternal_acl_type new ttl=9 %ul /lib/group\n"
        "acl pattern proxy_auth_regex ^a\nacl few max_user_ip 2\nacl group external new x\n"
        "acl old_group external ldap\nacl some any-of lan !known\n"
        "http_access " +
        line + "\nhttp_access allow lan";
    EXPECT_EQ(access(lines), kDenied) << line;
    EXPECT_TRUE(
        has(report(imported(std::string(kAcls) + lines)), "The rule denies more than the line"));
    const auto wider = imported(std::string(kAcls) + lines, {}, Denial::less);
    EXPECT_EQ(short_form(wider), R"("clients":["10.0.0.0/8"])") << line;
    EXPECT_TRUE(has(report(wider), "Wider than Squid")) << line;
  }
  for (const std::string acl : {"external by_url", "any-of lan ssl"}) {
    EXPECT_EQ(access("external_acl_type by_url %URI /lib/any\nacl other " + acl +
                     "\nhttp_access allow lab other\nhttp_access allow lan"),
              R"("clients":["10.0.0.0/8"])")
        << acl;
  }
}

// To Squid, "*" is the name of a user.
TEST(SquidAccess, IsNotForAllUsersWhereALineNamesTheUserStar) {
  EXPECT_EQ(access("acl star proxy_auth * berta\nhttp_access allow star", kUsers),
            R"("users":{"file":"/etc/passwd"},"rules":[{"allow","users":["berta"]}],"clients":[])");
  EXPECT_EQ(access("acl star proxy_auth *\nhttp_access deny star\nhttp_access allow lan", kUsers),
            R"("users":{"file":"/etc/passwd"},"rules":[{"deny"},)"
            R"({"allow","clients":["10.0.0.0/8"],"users":["*"]}],"clients":[])");
}

TEST(SquidAccess, OfItsOwnPagesIsThatOfMonitors) {
  const auto monitor = [](std::string_view lines) {
    auto all = settings_of(imported(std::string(kAcls) + std::string(lines)));
    for (const std::string same : {R"(,"connect_ports":["1-65535"])", R"(,"admin":[])"}) {
      if (has(all, same)) all.erase(all.find(same), same.size());
    }
    return all.substr(all.find("\"monitor\""));
  };
  EXPECT_EQ(
      monitor("http_access allow lan manager\nhttp_access deny manager\nhttp_access allow all"),
      "\"monitor\":[\"10.0.0.0/8\"]}}");
  EXPECT_EQ(monitor("http_access deny manager\nhttp_access allow lan manager"),
            "\"monitor\":[\"loopback\"]}}");
  EXPECT_EQ(monitor("http_access allow purge lab\nhttp_access deny purge"),
            "\"monitor\":[\"loopback\"],\"admin\":[\"10.7.0.0/16\"]}}");
}

// Own pages and purging are served before the rules are asked.
TEST(SquidAccess, OfItsOwnPagesIsForNobodyWhomSquidRefuses) {
  struct Case {
    std::string lines, monitor, admin;
  };
  const std::string default_of_monitor = R"("loopback")";
  const std::string lan = R"("10.0.0.0/8")";
  for (const Case& c : {
           Case{"deny lab\nhttp_access allow manager lan\nhttp_access allow purge lan",
                default_of_monitor, ""},
           Case{"deny manager lab\nhttp_access allow manager lan\nhttp_access allow purge lan",
                default_of_monitor, lan},
           Case{"deny manager !localhost\nhttp_access allow manager lan", default_of_monitor, ""},
           Case{"deny manager bot\nhttp_access allow manager lan", default_of_monitor, ""},
           Case{"deny lan day\nhttp_access allow manager lan", default_of_monitor, ""},
           Case{"deny get\nhttp_access allow manager lan\nhttp_access allow purge lan",
                default_of_monitor, ""},
           Case{"deny !site\nhttp_access allow manager lan", default_of_monitor, ""},
           Case{"deny !lan\nhttp_access allow manager lan", default_of_monitor, ""},
           Case{"deny lab !site\nhttp_access allow manager lan", default_of_monitor, ""},
           Case{"deny site\nhttp_access deny !web\nhttp_access allow manager lan", lan, ""},
           Case{
               "allow manager lan\nhttp_access allow purge lan\nhttp_reply_access deny manager lab",
               default_of_monitor, lan},
           Case{"allow manager lan\nhttp_access allow purge lan\nmiss_access deny purge lab", lan,
                ""},
           Case{"allow manager lan\nhttp_access allow purge lan\n"
                "http_reply_access deny manager known ftp",
                default_of_monitor, lan},
       }) {
    const auto import =
        imported(std::string(kUsers) + std::string(kAcls) + "http_access " + c.lines);
    const auto all = settings_of(import);
    EXPECT_TRUE(has(all, "\"monitor\":[" + c.monitor + "],\"admin\":[" + c.admin + "]"))
        << c.lines << '\n'
        << all;
  }
  const auto told = [](std::string_view lines) {
    return told_of(
        imported("acl lan src 10.0.0.0/8\nacl lab src 10.7.0.0/16\n" + std::string(lines)), 4);
  };
  EXPECT_EQ(told("http_access deny lab\nhttp_access allow manager lan"),
            "left: lines above it may refuse some of these clients: 10.0.0.0/8\n");
  EXPECT_EQ(told("http_access deny lan\nhttp_access allow manager lab"),
            "left: lines above it may refuse some of these clients: 10.7.0.0/16\n");
}

// A line about own pages allows these alone.
TEST(SquidAccess, AllowsNothingElseForALineOfAnotherListAboutOwnPages) {
  for (const std::string line : {"manager localhost", "purge localhost"}) {
    const std::string lines = "http_reply_access allow " + line +
                              "\nhttp_reply_access deny all\nhttp_access allow localhost";
    EXPECT_EQ(access(lines), R"("rules":[{"deny"}],"clients":["127.0.0.1","::1"])") << line;
    const auto wider = imported(std::string(kAcls) + lines, {}, Denial::less);
    EXPECT_EQ(short_form(wider), R"("clients":["127.0.0.1","::1"])") << line;
    EXPECT_TRUE(has(report(wider), "Wider than Squid")) << line;
  }
}

}  // namespace
}  // namespace proxy::command::squid
