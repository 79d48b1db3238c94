#include "proxy/pages/pac.hpp"

#include <gtest/gtest.h>

#include "config/load.hpp"

namespace proxy {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// tests/scenario/pac_test.cpp runs the script.
TEST(PacScript, ListsWhatTheSettingsSay) {
  const auto settings = config::load(
      R"({"name":"cache-a","reverse":[{"host":"*.shop.example","to":"http://10.0.0.1"},
          {"host":"*","to":"http://10.0.0.2"}],
          "access":{"own_names":["cache.example"],"direct":["*.lan.example"],
                    "deny_to":["10.0.0.0/8","fe80::/10","10.1.0.0/16"],"connect_ports":[8443,443,"8000-8099"]}})");
  ASSERT_TRUE(settings);
  const auto script = pac_script(*settings, "cache.example:3128", "Host-1");
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
  settings.name = "a'b";  // a token of HTTP, and no host
  EXPECT_FALSE(has(pac_script(settings, "a:1", "x\";alert(1);\""), "alert"));
  EXPECT_FALSE(has(pac_script(settings, "a:1", ""), "a'b"));
}

TEST(MayBeClient, IsWhoeverTheSettingsLetUseTheProxy) {
  config::AccessSettings access;
  EXPECT_TRUE(may_be_client(access, *config::parse_address("10.1.2.3")));
  const auto other = *config::parse_address("192.0.2.1");
  EXPECT_FALSE(may_be_client(access, other));
  access.rules.resize(1);
  EXPECT_FALSE(may_be_client(access, other)) << "the rule denies";
  access.rules[0].allows = true;
  EXPECT_TRUE(may_be_client(access, other));
  access.rules[0].clients = *config::parse_networks("10.0.0.0/8");
  EXPECT_FALSE(may_be_client(access, other));
}

TEST(IsWpad, IsThatNameInAnyDomain) {
  EXPECT_TRUE(is_wpad("wpad"));
  EXPECT_TRUE(is_wpad("wpad.lan.example"));
  EXPECT_FALSE(is_wpad("wpadx.example"));
  EXPECT_FALSE(is_wpad("a.wpad"));
}

}  // namespace
}  // namespace proxy
