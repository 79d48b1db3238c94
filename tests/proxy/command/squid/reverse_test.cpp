#include "proxy/command/squid/parts.hpp"

#include "tests/proxy/command/squid/given_files.hpp"

namespace proxy::command::squid {
namespace {

constexpr std::string_view kBefore =
    "http_port 192.0.2.1:80 accel\n"
    "acl www dstdomain www.example.com\n"
    "acl shop dstdomain .shop.example\n"
    "acl till dstdomain till.shop.example\n"
    "acl me src 10.0.0.1\n"
    "acl api urlpath_regex ^/api/\n";
constexpr std::size_t kFirst = 7;  // line after these

// What the lines say of sites: "reverse" and "forward".
std::string sites(std::string_view lines, std::string_view before = kBefore) {
  const std::string all = settings_of(imported(std::string(before) + std::string(lines)));
  const auto begin = std::min(all.find("\"reverse\""), all.find("\"forward\""));
  return begin == all.npos ? "" : all.substr(begin, all.find(",\"access\"") - begin);
}

struct SitesCase {
  std::string_view lines, sites;
};

TEST(SquidAccelerator, BecomesTheSitesOfReverse) {
  const std::string closed = R"(,"forward":false)";
  for (const SitesCase& c :
       {SitesCase{"cache_peer 10.0.0.8 parent 8000 0 no-query originserver",
                  R"("reverse":[{"host":"*","to":"http://10.0.0.8:8000"}])"},
        SitesCase{
            "cache_peer b.example parent 443 0 originserver tls forceddomain=in.example",
            R"("reverse":[{"host":"*","to":"https://b.example:443","send_host":"in.example"}])"},
        SitesCase{"cache_peer 10.0.0.8 parent 80 0 originserver name=a\n"
                  "cache_peer 10.0.0.9 sibling 80 0 originserver name=b\n"
                  "cache_peer_access a allow www\ncache_peer_access a deny all\n"
                  "cache_peer_access b allow shop\ncache_peer_access b deny all",
                  R"("reverse":[{"host":"www.example.com","to":"http://10.0.0.8:80"},)"
                  R"({"host":"shop.example","to":"http://10.0.0.9:80"},)"
                  R"({"host":"*.shop.example","to":"http://10.0.0.9:80"}])"},
        SitesCase{"cache_peer 10.0.0.8 parent 80 0 originserver name=a\n"
                  "cache_peer 10.0.0.9 parent 80 0 originserver name=b\n"
                  "cache_peer_access b allow www",
                  R"("reverse":[{"host":"*","to":"http://10.0.0.8:80"},{"host":"www.example.com",)"
                  R"("to":["http://10.0.0.8:80","http://10.0.0.9:80"]}])"},
        SitesCase{"cache_peer 10.0.0.8 parent 80 0 originserver name=a\n"
                  "cache_peer 10.0.0.8 parent 80 0 originserver name=b\n"
                  "cache_peer_access a deny till\ncache_peer_access a allow all\n"
                  "cache_peer_access b allow till",
                  R"("reverse":[{"host":"till.shop.example","to":"http://10.0.0.8:80"}])"},
        SitesCase{
            "cache_peer 10.0.0.8 parent 80 0 originserver login=PASS round-robin\n"
            "cache_peer 10.0.0.9 parent 80 0 originserver login=PASS round-robin",
            R"("reverse":[{"host":"*","to":["http://10.0.0.8:80","http://10.0.0.9:80"]}])"}}) {
    EXPECT_EQ(sites(c.lines), std::string(c.sites) + closed) << c.lines;
  }
}

TEST(SquidAccelerator, ServesOthersOnlyWherePortsDo) {
  const std::string_view origin = "cache_peer 10.0.0.8 parent 8000 0 originserver\n";
  const std::string to = R"("reverse":[{"host":"*","to":"http://10.0.0.8:8000")";
  for (const SitesCase& c :
       {SitesCase{"http_port 80 accel vhost\n", R"(}],"forward":false)"},
        SitesCase{"https_port 443 accel cert=/x\n", R"(}],"forward":false)"},
        SitesCase{"http_port 80 accel\nhttp_port 3128\n", "}]"},
        SitesCase{"http_port 80 accel allow-direct\n", "}]"},
        SitesCase{"http_port 80 accel defaultsite=www.example.com no-vhost\n",
                  R"(,"send_host":"www.example.com"}],"forward":false)"},
        SitesCase{"http_port 80 accel defaultsite=www.example.com\n", R"(}],"forward":false)"}}) {
    EXPECT_EQ(sites(origin, c.lines), to + std::string(c.sites)) << c.lines;
  }
  EXPECT_EQ(sites("http_port 80 accel\nnever_direct allow all", ""), R"("forward":false)");
  EXPECT_TRUE(
      has(told_of(imported("http_port 80 accel\nnever_direct allow all"), 2), "unneeded: "));
  EXPECT_TRUE(has(told_of(imported("http_port 80 accel\nhttp_port 81"), 1), "changed: every port"));
}

// A request must not get to a server that Squid would not ask.
TEST(SquidAccelerator, LeavesOutAnOriginWhoseSitesItCannotName) {
  struct Case {
    std::string_view lines, told;
  };
  for (const Case& c :
       {Case{"cache_peer_access o allow me", "settings cannot say for which requests"},
        Case{"cache_peer_access o allow api\ncache_peer_access o deny all", "settings cannot say"},
        Case{"cache_peer_access o deny till\ncache_peer_access o allow all",
             "the origin is left out: \"reverse\" names no exceptions"},
        Case{"cache_peer_access o deny all", "lets no request go there"}}) {
    const std::string lines =
        "cache_peer 10.0.0.8 parent 80 0 originserver name=o\n" + std::string(c.lines);
    EXPECT_EQ(sites(lines), R"("forward":false)");
    const auto import = imported(std::string(kBefore) + lines);
    EXPECT_TRUE(has(told_of(import, kFirst), c.told)) << told_of(import, kFirst);
  }
}

TEST(SquidAccelerator, TellsWhatIsDifferent) {
  struct Case {
    std::string_view option, told;
  };
  for (const Case& c : {Case{"round-robin", "changed: round-robin: the first origin"},
                        Case{"weight=3", "changed: weight: the first origin"},
                        Case{"login=a:b", "left: login: no password is sent"},
                        Case{"forceddomain=a/b", "left: forceddomain: "},
                        Case{"front-end-https", "left: front-end-https: "},
                        Case{"login=PASS default no-digest", ""}}) {
    const auto import =
        imported(std::string(kBefore) + "cache_peer 10.0.0.8 parent 80 0 originserver " +
                 std::string(c.option));
    EXPECT_TRUE(told_of(import, kFirst).starts_with(c.told)) << told_of(import, kFirst);
    EXPECT_EQ(told_of(import, kFirst).empty(), c.told.empty());
  }
}

TEST(SquidAccelerator, BecomesSettingsThatAreRead) {
  std::string lines(kBefore);
  for (unsigned i = 0; i < 40; ++i) {
    lines += "cache_peer 10.1.0." + std::to_string(i) + " parent 80 0 originserver name=o" +
             std::to_string(i) + '\n';
  }
  const auto import = imported(lines);
  EXPECT_TRUE(has(told_of(import, kFirst + 16), "at most 16 origins"));
  const auto settings = config::load(import.settings);
  ASSERT_TRUE(settings) << settings.error()[0].where << settings.error()[0].what;
  EXPECT_EQ(settings->gateway.reverse.front().to.size(), 16U);
  EXPECT_EQ(settings->gateway.forward, false);
}

}  // namespace
}  // namespace proxy::command::squid
