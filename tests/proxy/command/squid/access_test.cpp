#include "proxy/command/squid/parts.hpp"

#include "tests/proxy/command/squid/given_access.hpp"

namespace proxy::command::squid {
namespace {

TEST(SquidAccess, IsTheShortFormWhereOnlyClientsMatter) {
  for (const AccessCase& c :
       {AccessCase{"", R"("clients":[])"},
        AccessCase{"http_access allow lan\nhttp_access deny all", R"("clients":["10.0.0.0/8"])"},
        AccessCase{"http_access allow localhost\nhttp_access allow lan",
                   R"("clients":["127.0.0.1","::1","10.0.0.0/8"])"},
        AccessCase{"http_access allow all", R"("clients":["any"])"},
        AccessCase{"http_access deny all\nhttp_access allow all", R"("clients":[])"},
        AccessCase{"http_access deny lab\nhttp_access allow lan",
                   R"("rules":[{"deny","clients":["10.7.0.0/16"]}],"clients":["10.0.0.0/8"])"},
        AccessCase{"http_access deny CONNECT !ssl\nhttp_access allow lan",
                   R"("clients":["10.0.0.0/8"],"connect_ports":[443,8443])"},
        AccessCase{"http_access deny to_localhost\nhttp_access allow lan",
                   R"("clients":["10.0.0.0/8"])"},
        AccessCase{
            "http_access deny to_localhost inside\nhttp_access allow lan",
            R"("clients":["10.0.0.0/8"],"deny_to":["loopback","link-local","192.168.0.0/16"])"},
        AccessCase{
            "http_access deny inside\nhttp_access allow lan",
            R"("clients":["10.0.0.0/8"],"deny_to":["loopback","link-local","192.168.0.0/16"])"}}) {
    EXPECT_EQ(access(c.lines), c.access) << c.lines;
  }
}

TEST(SquidAccess, TakesThePortsOfConnectAsTheyAre) {
  struct Case {
    std::string_view lines, ports;
  };
  for (const Case& c :
       {Case{"http_access allow lan", R"(["1-65535"])"},
        Case{"acl SSL_ports port 1-65535\nhttp_access deny CONNECT !SSL_ports\n"
             "http_access allow lan",
             R"(["1-65535"])"},
        Case{"acl SSL_ports port 443\nacl SSL_ports port 1025-65535\n"
             "http_access deny CONNECT !SSL_ports\nhttp_access allow lan",
             R"([443,"1025-65535"])"},
        Case{"http_access deny CONNECT !ssl\nhttp_access deny CONNECT !web\n"
             "http_access allow lan",
             "[443]"},
        Case{"acl other port 8443\nhttp_access deny CONNECT !ssl\n"
             "http_access deny CONNECT other\nhttp_access allow lan",
             "[443]"},
        Case{"http_access deny CONNECT !ssl\nhttp_access deny CONNECT ssl\n"
             "http_access deny CONNECT !web\nhttp_access allow lan",
             "[]"},
        Case{"http_access deny CONNECT\nhttp_access allow lan", R"(["1-65535"])"}}) {
    const auto import =
        imported("acl lan src 10.0.0.0/8\nacl ssl port 443 8443\nacl web port 80 443\n" +
                 std::string(c.lines));
    EXPECT_TRUE(has(settings_of(import), R"("connect_ports":)" + std::string(c.ports)))
        << settings_of(import);
    EXPECT_TRUE(import.is_complete()) << c.lines;
    EXPECT_TRUE(config::load(import.settings)) << import.settings;
  }
}

TEST(SquidAccess, TakesAllPortsAsNoCondition) {
  EXPECT_EQ(access("acl any_port port 1-1024 1025-65535\nhttp_access deny CONNECT !any_port\n"
                   "http_access allow lan any_port"),
            R"("clients":["10.0.0.0/8"])");
  EXPECT_EQ(told_of(imported("acl any_port port 0-65535\nhttp_access deny CONNECT !any_port\n"
                             "http_access allow all"),
                    2),
            "unneeded: no request that Hearsay serves meets it\n");
}

// For the clients that a line above lets in, Squid allows all ports.
TEST(SquidAccess, LimitsThePortsOfConnectByARuleBelowALineThatAllows) {
  EXPECT_EQ(access("http_access allow lab\nhttp_access deny CONNECT !ssl\nhttp_access allow lan"),
            R"("rules":[{"allow","clients":["10.7.0.0/16"]},{"deny","ports":["1-442","444-8442",)"
            R"("8444-65535"],"methods":["CONNECT"]}],"clients":["10.0.0.0/8"])");
}

// Squid does the opposite of the last line where none matches.
TEST(SquidAccess, EndsWithTheOppositeOfTheLastLine) {
  EXPECT_EQ(access("http_access deny lab"),
            R"("rules":[{"deny","clients":["10.7.0.0/16"]}],"clients":["any"])");
  EXPECT_EQ(access("http_access allow lab"), R"("clients":["10.7.0.0/16"])");
  EXPECT_EQ(access("http_access deny bot"), R"("rules":[{"deny"}],"clients":["any"])");
  const auto told = [](std::string_view lines) { return told_of(imported(lines), 2); };
  const std::string acl = "acl a src 10.0.0.1\n";
  EXPECT_TRUE(has(told(acl + "http_access deny a"), "changed: it is the last http_access line"));
  EXPECT_EQ(told(acl + "http_access deny a\nhttp_access deny all"), "");
  EXPECT_EQ(told(acl + "http_access allow a"), "");
}

TEST(SquidAccess, KeepsTheOrderOfRules) {
  EXPECT_EQ(
      access("http_access allow lab site\nhttp_access deny lab\nhttp_access allow lan get web\n"
             "http_access allow lan day\nhttp_access deny all"),
      R"("rules":[{"allow","clients":["10.7.0.0/16"],"to":["site.example","*.site.example"]},)"
      R"({"deny","clients":["10.7.0.0/16"]},)"
      R"({"allow","clients":["10.0.0.0/8"],"ports":["80","443"],"methods":["GET","HEAD"]},)"
      R"({"allow","clients":["10.0.0.0/8"],"times":["mon-fri 08:00-18:00"]}],"clients":[])");
}

TEST(SquidAccess, TakesAclsOfALineTogether) {
  EXPECT_EQ(access("http_access allow lan lab page site !web"),
            R"("rules":[{"allow","clients":["10.7.0.0/16"],"to":["page.site.example"],)"
            R"("ports":["1-79","81-442","444-65535"]}],"clients":[])");
  EXPECT_EQ(access("http_access allow lab localhost\nhttp_access allow ftp lan"), R"("clients":[])")
      << "no request meets these";
}

// What has no equal is left out where it allows.
TEST(SquidAccess, AllowsNothingThatItCannotSay) {
  for (const std::string line : {"allow lan bot", "allow lan inside", "allow lan !bot",
                                 "allow nobody", "allow lan !named", "allow named"}) {
    const auto import = imported(std::string(kAcls) + "http_access " + line);
    EXPECT_TRUE(has(settings_of(import), R"("access":{"clients":[])")) << import.settings;
    EXPECT_FALSE(import.is_complete()) << line;
  }
}

// What has no equal denies all requests that the rest of its line fits.
TEST(SquidAccess, DeniesMoreWhereItCannotSay) {
  for (const AccessCase& c :
       {AccessCase{"deny bot", R"({"deny"})"},
        AccessCase{"deny lab bot", R"({"deny","clients":["10.7.0.0/16"]})"},
        AccessCase{"deny lab !bot", R"({"deny","clients":["10.7.0.0/16"]})"},
        AccessCase{"deny nobody", R"({"deny"})"}, AccessCase{"deny named", R"({"deny"})"},
        AccessCase{"deny !inside", R"({"deny"})"}, AccessCase{"deny known", R"({"deny"})"}}) {
    const std::string lines = "http_access " + std::string(c.lines) + "\nhttp_access allow lan";
    EXPECT_EQ(access(lines),
              R"("rules":[)" + std::string(c.access) + R"(],"clients":["10.0.0.0/8"])");
    EXPECT_FALSE(imported(std::string(kAcls) + lines).is_complete());
  }
}

// With --wider, what has no equal is allowed, and told.
TEST(SquidAccess, LeavesOutDenialsOnOrder) {
  struct Case {
    std::string_view lines, access, told;
  };
  const std::string_view end = "http_access allow lan\nhttp_access deny all\n";
  constexpr std::size_t kFirst = 17;
  const std::string lan = R"("clients":["10.0.0.0/8"])";
  for (const Case& c :
       {Case{"http_access deny bot\n", "", "wider: acl bot: access rules do not look at header"},
        Case{"http_access deny lab bot\n", "", "wider: acl bot: "},
        Case{"http_reply_access deny bot\n", "", "wider: acl bot: "},
        Case{"acl mime rep_mime_type video\nhttp_reply_access deny mime\n", "", ""},
        Case{"http_reply_access allow bot\nhttp_reply_access deny all\n", "",
             "wider: its list denies all that it does not allow"},
        Case{"follow_x_forwarded_for allow lab\n", "", "wider: Hearsay does not look at"},
        Case{"http_access deny named\n", "", "wider: acl named: one of its values"},
        Case{"acl some dstdomain a.example b/c\nhttp_access deny some\n",
             R"("rules":[{"deny","to":["a.example"]}],)", ""},
        Case{"http_access deny page\n", R"("rules":[{"deny","to":["page.site.example"]}],)", ""}}) {
    const std::string lines = std::string(kAcls) + std::string(c.lines) + std::string(end);
    const auto import = imported(lines, {}, Denial::less);
    EXPECT_TRUE(has(short_form(import), std::string(c.access) + lan)) << short_form(import);
    EXPECT_EQ(has(import.settings, "Wider than Squid, which obeys a.conf:"),
              has(report(import), "Wid"));
    if (!c.told.empty()) {
      EXPECT_TRUE(has(told_of(import, kFirst), c.told)) << told_of(import, kFirst);
      EXPECT_FALSE(import.is_complete());
    }
    EXPECT_FALSE(has(report(imported(lines)), "Wider")) << "only on order";
  }
}

// A rule cannot say "all hosts but these": rules of the lines below it allow these before one
// denies the others.
TEST(SquidAccess, NarrowsWhatIsAllowedBelowADenyOfAllOthers) {
  EXPECT_EQ(
      access("http_access deny !site\nhttp_access allow lan\nhttp_access allow localhost"),
      R"("rules":[{"allow","clients":["10.0.0.0/8"],"to":["site.example","*.site.example"]},)"
      R"({"allow","clients":["127.0.0.1","::1"],"to":["site.example","*.site.example"]}],"clients":[])");
  EXPECT_EQ(access("http_access deny CONNECT !site\nhttp_access allow lan"),
            R"("rules":[{"allow","clients":["10.0.0.0/8"],"to":["site.example","*.site.example"],)"
            R"("methods":["CONNECT"]},{"deny","clients":["10.0.0.0/8"],"methods":["CONNECT"]}],)"
            R"("clients":["10.0.0.0/8"])");
  EXPECT_EQ(access("http_access deny day !site\nhttp_access allow page"),
            R"("rules":[{"allow","to":["page.site.example"]}],"clients":[])");
  EXPECT_EQ(
      access("http_access deny lab !site\nhttp_access allow lan get\nhttp_access allow localhost"),
      R"("rules":[{"allow","clients":["10.7.0.0/16"],"to":["site.example","*.site.example"],)"
      R"("methods":["GET","HEAD"]},{"deny","clients":["10.7.0.0/16"],"methods":["GET","HEAD"]},)"
      R"({"allow","clients":["10.0.0.0/8"],"methods":["GET","HEAD"]}],"clients":["127.0.0.1","::1"])");
  EXPECT_EQ(access("http_access deny !lan !localhost\nhttp_access allow all"),
            R"("clients":["10.0.0.0/8","127.0.0.1","::1"])");
  EXPECT_EQ(access("http_access deny !site"),
            R"("rules":[{"allow","to":["site.example","*.site.example"]}],"clients":[])");
}

TEST(SquidAccess, DeniesWhatALineExceptsBeforeIt) {
  EXPECT_EQ(access("http_access allow lan !page\nhttp_access allow lab"),
            R"("rules":[{"deny","clients":["10.0.0.0/8"],"to":["page.site.example"]}],)"
            R"("clients":["10.0.0.0/8"])");
}

TEST(SquidAccess, ComparesNamesOfAclsWithoutRegardToCase) {
  EXPECT_EQ(access("acl LAB src 10.8.0.0/16\nhttp_access deny Lab\nhttp_access allow !WEB LAN\n"
                   "http_access deny ALL\nmiss_access allow All"),
            R"("rules":[{"deny","clients":["10.7.0.0/16","10.8.0.0/16"]},)"
            R"({"allow","clients":["10.0.0.0/8"],"ports":["1-79","81-442","444-65535"]}],)"
            R"("clients":[])");
  EXPECT_TRUE(imported("http_access allow Manager LOCALHOST").is_complete());
}

TEST(SquidAccess, DeniesWhatOtherListsDeny) {
  EXPECT_EQ(
      access("http_access allow lan\nhttp_reply_access deny page\nhttp_reply_access allow all"),
      R"("rules":[{"deny","to":["page.site.example"]}],"clients":["10.0.0.0/8"])");
  EXPECT_EQ(access("http_access allow lan\nmiss_access allow lab"),
            R"("rules":[{"deny"}],"clients":["10.0.0.0/8"])")
      << "what another list allows, rules cannot leave to http_access";
  EXPECT_EQ(access("http_access allow lan\nhttp_reply_access deny all"), R"("clients":[])");
  EXPECT_EQ(access("http_access allow lan\nfollow_x_forwarded_for allow localhost"),
            R"("rules":[{"deny","clients":["127.0.0.1","::1"]}],"clients":["10.0.0.0/8"])");
}

TEST(SquidAccess, CarriesADenyThatDependsOnAConditionAndNothingElse) {
  EXPECT_EQ(
      access("if 1\nhttp_access allow all\nhttp_access deny lab\nendif\nhttp_access allow lan"),
      R"("rules":[{"deny","clients":["10.7.0.0/16"]}],"clients":["10.0.0.0/8"])");
  EXPECT_EQ(access("if 0\nmiss_access allow all\nendif\nmiss_access allow lab\n"
                   "http_access allow all"),
            R"("rules":[{"deny"}],"clients":["any"])");
}

TEST(SquidAccess, BlocksALongListOfHostsByItsFile) {
  std::string hosts;
  for (int i = 0; i < 300; ++i) hosts += ".h" + std::to_string(i) + ".example\n";
  const auto import = imported(
      "acl ads dstdomain \"/ads\"\nhttp_access deny ads\nhttp_access allow all", {{"/ads", hosts}});
  EXPECT_TRUE(has(settings_of(import), R"("block":["/ads"])")) << import.settings;
  EXPECT_TRUE(has(settings_of(import), R"("clients":["any"])"));
  const auto bad =
      imported("acl ads dstdomain \"/ads\"\nhttp_access deny ads\nhttp_access allow all",
               {{"/ads", hosts + "not a host\n"}});
  EXPECT_TRUE(has(settings_of(bad), R"("rules":[{"action":"deny"}])")) << bad.settings;
}

TEST(SquidAccess, IsDeniedWhereAFileOfValuesIsMissing) {
  EXPECT_EQ(access("acl x dstdomain \"/gone\"\nhttp_access deny x\nhttp_access allow lan"),
            R"("rules":[{"deny"}],"clients":["10.0.0.0/8"])");
}

TEST(SquidAccess, IsBounded) {
  std::string lines(kAcls);
  for (int i = 0; i < 1'000; ++i) {
    lines += "http_access deny !site\nhttp_access allow lan get\nhttp_access allow lab day\n";
  }
  const auto import = imported(lines);
  EXPECT_TRUE(has(import.settings, "access.rules is full: all that follows is denied"));
  EXPECT_LT(import.settings.size(), 256u * 1024);
}

}  // namespace
}  // namespace proxy::command::squid
