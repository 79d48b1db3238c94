#include "proxy/policy/access_rules.hpp"

#include <gtest/gtest.h>

#include "config/load.hpp"

namespace proxy::policy {
namespace {

constexpr LocalTime kMondayNoon{0, 12 * 60};

AccessRules rules(const std::string& list) {
  const auto settings = config::load(R"({"access":{"rules":[)" + list + "]}}");
  EXPECT_TRUE(settings.has_value()) << list;
  return AccessRules(settings->access.rules);
}

struct Asking {
  std::string client = "10.0.0.1";
  std::string line = "GET http://a.test/";
  LocalTime now = kMondayNoon;
};

// The name of the rule that decides; empty: none.
std::string decides(const AccessRules& rules, const Asking& asking) {
  const auto address = config::parse_address(asking.client).value();
  const auto space = asking.line.find(' ');
  const auto method = asking.line.substr(0, space);
  const auto target = http::parse_target(method, asking.line.substr(space + 1)).value();
  const auto* rule = rules.find({address, target, method, asking.now, ""});
  return rule ? rule->name() : "";
}

struct Condition {
  std::string written;
  Asking asking;
  bool met;
};

TEST(AccessRules, MatchWhatEachConditionNames) {
  const Condition cases[] = {
      {R"("clients":["10.0.0.0/8"])", {}, true},
      {R"("clients":["10.0.0.0/8","192.168.0.9"])", {"192.168.0.9"}, true},
      {R"("clients":["10.0.0.0/8"])", {"192.168.0.9"}, false},
      {R"("clients":["::/0"])", {"10.0.0.1"}, false},
      {R"("to":["a.test"])", {}, true},
      {R"("to":["a.test"])", {"10.0.0.1", "GET http://A.TEST.:80/"}, true},
      {R"("to":["a.test"])", {"10.0.0.1", "GET http://www.a.test/"}, false},
      {R"("to":["*.a.test"])", {"10.0.0.1", "GET http://www.a.test/"}, true},
      {R"("to":["*.a.test"])", {"10.0.0.1", "GET http://a.test/"}, false},
      {R"("to":["*.a.test"])", {"10.0.0.1", "GET http://nota.test/"}, false},
      {R"("to":["a.test:81"])", {"10.0.0.1", "GET http://a.test:81/"}, true},
      {R"("to":["192.0.2.1"])", {"10.0.0.1", "GET http://[::ffff:192.0.2.1]/"}, true},
      {R"("to":["*"])", {"10.0.0.1", "CONNECT a.test:443"}, true},
      {R"("ports":["80"])", {}, true},
      {R"("ports":["443","1025-65535"])", {"10.0.0.1", "GET http://a.test:1025/"}, true},
      {R"("ports":["443","1025-65535"])", {"10.0.0.1", "GET http://a.test:1024/"}, false},
      {R"("ports":["443"])", {"10.0.0.1", "CONNECT a.test:443"}, true},
      {R"("methods":["GET","HEAD"])", {"10.0.0.1", "HEAD http://a.test/"}, true},
      {R"("methods":["GET","HEAD"])", {"10.0.0.1", "POST http://a.test/"}, false},
      {R"("methods":["GET","HEAD"])", {"10.0.0.1", "get http://a.test/"}, false},
      {R"("schemes":["http"])", {}, true},
      {R"("schemes":["https"])", {}, false},
      {R"("schemes":["https"])", {"10.0.0.1", "GET https://a.test/"}, true},
      {R"("schemes":["https"])", {"10.0.0.1", "CONNECT a.test:80"}, true},
      {R"("schemes":["http"])", {"10.0.0.1", "CONNECT a.test:80"}, false},
      {R"("times":["mon-fri 08:00-18:00"])", {}, true},
      {R"("times":["tue","11:00-12:00"])", {}, false},
      {R"("times":["tue","12:00-12:01"])", {}, true},
      {R"("to":["a.test"],"methods":["POST"])", {}, false},
  };
  for (const auto& [written, asking, met] : cases) {
    const auto listed = rules(R"({"action":"allow",)" + written + "}");
    EXPECT_EQ(decides(listed, asking) == "0", met) << written << ' ' << asking.line;
  }
}

TEST(AccessRules, DenyAMethodInAnyCaseAndAllowItInItsOwn) {
  const auto denies = rules(R"({"action":"deny","methods":["POST","PURGE"]})");
  const auto allows = rules(R"({"action":"allow","methods":["POST","PURGE"]})");
  for (const char* method : {"post", "Post", "pOST", "purge"}) {
    const Asking asking{"10.0.0.1", std::string(method) + " http://a.test/"};
    EXPECT_EQ(decides(denies, asking), "0") << method;
    EXPECT_EQ(decides(allows, asking), "") << method;
  }
  EXPECT_EQ(decides(denies, {"10.0.0.1", "POSTS http://a.test/"}), "");
  EXPECT_EQ(decides(denies, {"10.0.0.1", "GET http://a.test/"}), "");
  EXPECT_EQ(decides(denies, {"10.0.0.1", "POST http://a.test/"}), "0");
  EXPECT_EQ(decides(allows, {"10.0.0.1", "POST http://a.test/"}), "0");
}

TEST(AccessRules, TheFirstThatMatchesDecides) {
  const auto listed = rules(R"({"name":"staff","action":"allow","clients":["10.1.0.0/16"]},)"
                            R"({"name":"games","action":"deny","to":["*.games.test"]},)"
                            R"({"name":"pupils","action":"allow","clients":["10.0.0.0/8"]})");
  EXPECT_EQ(decides(listed, {"10.1.0.1", "GET http://x.games.test/"}), "staff");
  EXPECT_EQ(decides(listed, {"10.2.0.1", "GET http://x.games.test/"}), "games");
  EXPECT_EQ(decides(listed, {"10.2.0.1"}), "pupils");
  EXPECT_EQ(decides(listed, {"192.168.0.1"}), "");
  EXPECT_EQ(decides(AccessRules(), {}), "");
}

TEST(AccessRules, HoldAUserWhoIsNotKnownForAnyOfTheirs) {
  const auto settings =
      config::load(R"({"access":{"users":{"file":"f"},"rules":[{"action":"deny","to":["b.test"]},)"
                   R"({"name":"anna","action":"allow","users":["anna"]},)"
                   R"({"name":"all","action":"allow","users":["*"],"to":["a.test"]}]}})");
  ASSERT_TRUE(settings.has_value());
  const AccessRules listed(settings->access.rules);
  EXPECT_TRUE(listed.have_users());
  EXPECT_FALSE(listed.allow_everybody());
  const auto client = config::parse_address("10.0.0.1").value();
  const std::tuple<std::string, std::string, std::string> cases[] = {
      {"http://b.test/", "", "0"},      {"http://a.test/", "", "anna"},
      {"http://a.test/", "bob", "all"}, {"http://a.test/", "anna", "anna"},
      {"http://c.test/", "bob", ""},    {"http://b.test/", "anna", "0"},
  };
  for (const auto& [url, user, name] : cases) {
    const auto target = http::parse_target("GET", url).value();
    const auto* rule = listed.find({client, target, "GET", kMondayNoon, user});
    EXPECT_EQ(rule ? rule->name() : "", name) << url << ' ' << user;
  }
}

TEST(AccessRules, AskForTheTimeOnlyIfARuleNamesOne) {
  EXPECT_FALSE(rules(R"({"action":"deny","to":["a.test"]})").have_times());
  EXPECT_TRUE(rules(R"({"action":"deny"},{"action":"deny","times":["sun"]})").have_times());
}

TEST(AccessRules, AllowEverybodyWhereARuleIsForClientsOfEveryAddress) {
  const std::pair<std::string, bool> cases[] = {
      {R"({"action":"allow"})", true},
      {R"({"action":"allow","clients":["any"],"to":["a.test"]})", true},
      {R"({"action":"deny"})", false},
      {R"({"action":"allow","clients":["private"]})", false},
      {R"({"action":"allow","clients":["0.0.0.0/0"]})", false},
  };
  for (const auto& [list, all] : cases) EXPECT_EQ(rules(list).allow_everybody(), all) << list;
}

}  // namespace
}  // namespace proxy::policy
