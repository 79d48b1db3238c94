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

// Whatever the lines say, the settings let this machine alone read own pages, and nobody purge.
TEST(SquidAccess, OfItsOwnPagesIsForNobodyWhomSquidRefuses) {
  for (const std::string lines :
       {"allow lan manager\nhttp_access deny manager\nhttp_access allow all",
        "deny manager\nhttp_access allow lan manager", "allow purge lab\nhttp_access deny purge",
        "deny lab\nhttp_access allow manager lan\nhttp_access allow purge lan",
        "deny manager lab\nhttp_access allow manager lan\nhttp_access allow purge lan",
        "deny manager !localhost\nhttp_access allow manager lan",
        "deny manager bot\nhttp_access allow manager lan",
        "deny lan day\nhttp_access allow manager lan",
        "deny get\nhttp_access allow manager lan\nhttp_access allow purge lan",
        "deny !site\nhttp_access allow manager lan", "deny !lan\nhttp_access allow manager lan",
        "deny lab !site\nhttp_access allow manager lan",
        "deny site\nhttp_access deny !web\nhttp_access allow manager lan",
        "allow manager lan\nhttp_access allow purge lan\nhttp_reply_access deny manager lab",
        "allow manager lan\nhttp_access allow purge lan\nmiss_access deny purge lab",
        "allow manager lan\nhttp_access allow purge lan\n"
        "http_reply_access deny manager known ftp"}) {
    const auto import = imported(std::string(kUsers) + std::string(kAcls) + "http_access " + lines);
    const auto all = settings_of(import);
    EXPECT_TRUE(has(all, R"("monitor":["loopback"],"admin":[])")) << lines << '\n' << all;
    EXPECT_TRUE(has(report(import), "access.monitor names who may read")) << lines;
  }
}

TEST(SquidAccess, OfItsOwnPagesIsCompleteWhereThisMachineAloneReadsThem) {
  const auto told = [](std::string_view line) {
    return told_of(
        imported("acl PURGE method PURGE\nacl one src 127.0.0.1 10.0.0.1\n" + std::string(line)),
        3);
  };
  EXPECT_EQ(told("http_access allow manager localhost"), "");
  for (const std::string line : {"allow manager", "allow manager one", "allow PURGE localhost"}) {
    EXPECT_TRUE(told("http_access " + line).starts_with("left: access.monitor names")) << line;
  }
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
