#include "proxy/pages/pac.hpp"

#include <gtest/gtest.h>

#include "config/load.hpp"
#include "peers/directory.hpp"

namespace proxy::pages {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// tests/scenario/control/pac_test.cpp runs the script.
TEST(PacScript, ListsWhatTheSettingsSay) {
  const auto settings = config::load(
      R"({"name":"cache-a","reverse":[{"host":"*.shop.example","to":"http://10.0.0.1"},
          {"host":"*","to":"http://10.0.0.2"}],
          "access":{"own_names":["cache.example"],"direct":["*.lan.example"],
                    "deny_to":["10.0.0.0/8","fe80::/10","10.1.0.0/16"],"connect_ports":[8443,443,"8000-8099"]}})");
  ASSERT_TRUE(settings);
  const auto script = pac_script(*settings, {}, {"cache.example", 3128}, "Host-1");
  EXPECT_TRUE(has(script, "var proxy = \"PROXY cache.example:3128\";\n"));
  EXPECT_TRUE(has(script,
                  "var hosts = [\"localhost\", \".localhost\", \"host-1\", \"cache-a\", "
                  "\"cache.example\", \".shop.example\", \".lan.example\"];\n"))
      << script;
  EXPECT_TRUE(has(script, "var networks = [[\"10.0.0.0\", \"255.0.0.0\"]];\n")) << script;
  EXPECT_TRUE(has(script, "var ports = [[8443, 8443], [443, 443], [8000, 8099]];\n"));
}

TEST(PacScript, HasNoNameThatCouldEndAText) {
  config::Settings settings;
  settings.process.name = "a'b";  // a token of HTTP, and no host
  EXPECT_FALSE(has(pac_script(settings, {}, {"a", 1}, "x\";alert(1);\""), "alert"));
  EXPECT_FALSE(has(pac_script(settings, {}, {"a", 1}, ""), "a'b"));
}

// The script's variables next, direct and indirect for a client that knows us as `proxy`.
std::string fallback(const std::string& text, const config::HostPort& proxy = {"a.lan", 3128},
                     std::size_t ourselves = 99) {
  const auto settings = config::load(text);
  EXPECT_TRUE(settings.has_value()) << text;
  const peers::PeerDirectory directory(settings->peers);
  for (const auto& peer : directory.peers()) peer->record->ourselves = peer->id == ourselves;
  const auto script = pac_script(*settings, directory.peers(), proxy, "");
  const auto begin = script.find("var next");
  return script.substr(begin, script.find("\nvar hosts") - begin);
}

std::string variables(const std::string& next, const std::string& direct,
                      const std::string& indirect) {
  return "var next = \"" + next + "\";\nvar direct = \"" + direct + "\";\nvar indirect = [" +
         indirect + "];";
}

constexpr std::string_view kSite =
    R"({"peers":[{"url":"http://a.lan:3128"},{"url":"http://10.0.0.2:3128"},
        {"url":"http://guest","trust":"guest"},{"url":"http://127.0.0.1:3129"},
        {"url":"http://c","login":"me:secret"},{"url":"https://[2001:db8::1]"},
        {"url":"http://p","role":"parent"}])";

TEST(PacScript, OffersTheSiteThenTheWayWithoutAProxy) {
  const std::string site(kSite);
  const std::string both = "; PROXY 10.0.0.2:3128; HTTPS [2001:db8::1]:443";
  EXPECT_EQ(fallback("{}"), variables("", "; DIRECT", ""));
  EXPECT_EQ(fallback(site + '}'), variables(both, "; DIRECT", ""));
  EXPECT_EQ(fallback(site + '}', {"10.0.0.9", 80}, 0), variables(both, "; DIRECT", ""))
      << "an entry that is ourselves under another name";
  EXPECT_EQ(fallback(site + '}', {"localhost", 3128}),
            variables("; PROXY a.lan:3128; PROXY 10.0.0.2:3128; PROXY 127.0.0.1:3129; "
                      "HTTPS [2001:db8::1]:443",
                      "; DIRECT", ""));
}

TEST(PacScript, OffersWhatPacFallbackListsAndDirectUnlessNeverDirect) {
  const std::string site(kSite);
  EXPECT_EQ(fallback(site + R"(,"pac_fallback":[]})"), variables("", "", ""));
  EXPECT_EQ(fallback(site + R"(,"pac_fallback":["DIRECT"]})"), variables("", "; DIRECT", ""));
  EXPECT_EQ(fallback(site + R"(,"pac_fallback":["http://z:1","neighbours","http://z:1"]})"),
            variables("; PROXY z:1; PROXY 10.0.0.2:3128; HTTPS [2001:db8::1]:443", "", ""));
  EXPECT_EQ(fallback(site + R"(,"pac_fallback":["DIRECT"],"never_direct":["*.x.test","y:81"]})"),
            variables("", "; DIRECT", "\".x.test\", \"y\""));
  EXPECT_TRUE(has(fallback(site + R"(,"never_direct":"all"})"), "var indirect = [\"\"];"));
}

TEST(IsWpad, IsThatNameInAnyDomain) {
  EXPECT_TRUE(is_wpad("wpad"));
  EXPECT_TRUE(is_wpad("wpad.lan.example"));
  EXPECT_FALSE(is_wpad("wpadx.example"));
  EXPECT_FALSE(is_wpad("a.wpad"));
}

}  // namespace
}  // namespace proxy::pages
