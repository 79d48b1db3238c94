#include <gtest/gtest.h>

#include "config/load.hpp"

namespace config {
namespace {

std::string rules(const std::string& list, const std::string& more = "") {
  return R"({"access":{"rules":[)" + list + "]" + more + "}}";
}

TEST(AccessRules, NameWhoMayAskForWhatAndWhen) {
  const auto settings =
      load(rules(R"({"name":"office","action":"allow","clients":["10.0.0.0/8"],)"
                 R"("to":["*.Example.org","a.test:8080"],"ports":["80","1025-65535",443],)"
                 R"("methods":["GET","M-SEARCH"],"schemes":["http","https"],)"
                 R"("times":["mon-fri 08:00-18:00"]},{"action":"deny"})"));
  ASSERT_TRUE(settings.has_value()) << settings.error().at(0).what;
  AccessRule office;
  office.name = "office";
  office.allows = true;
  office.clients = *parse_networks("10.0.0.0/8");
  office.to = {{"*.example.org", std::nullopt}, {"a.test", 8080}};
  office.ports = {{80, 80}, {1025, 65535}, {443, 443}};
  office.methods = {"GET", "M-SEARCH"};
  office.schemes = {"http", "https"};
  office.times = {*parse_weekly_time("mon-fri 08:00-18:00")};
  AccessRule rest;
  rest.name = "1";
  EXPECT_EQ(settings->access.rules, (std::vector{office, rest}));
}

// A Squid denies what a list of "allow" does not name; a list of "deny" only takes away.
TEST(AccessRules, LeaveOnlyNamedClientsWhereTheyAllowSomebody) {
  const auto by_default = Settings().access.clients;
  const std::pair<std::string, Networks> cases[] = {
      {rules(""), by_default},
      {rules(R"({"action":"deny","to":["a.test"]})"), by_default},
      {rules(R"({"action":"allow","clients":["10.1.0.0/16"]})"), {}},
      {rules(R"({"action":"allow","clients":["10.1.0.0/16"]})", R"(,"clients":["10.0.0.0/8"])"),
       *parse_networks("10.0.0.0/8")},
  };
  for (const auto& [text, clients] : cases) {
    const auto settings = load(text);
    ASSERT_TRUE(settings.has_value()) << text;
    EXPECT_EQ(settings->access.clients, clients) << text;
  }
}

TEST(AccessRules, NameUsersOfAFile) {
  const std::string rule = R"({"action":"allow","users":["anna","*"]})";
  const auto settings =
      load(rules(rule, R"(,"users":{"file":"/f","realm":"the lab","cleartext":true})"));
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->access.rules[0].users, (std::vector<std::string>{"anna", "*"}));
  EXPECT_EQ(settings->access.users, (UserSettings{"/f", "the lab", true}));
  const std::pair<std::string, std::string> faults[] = {
      {rules(rule), ", access.rules[0].users"},
      {rules(R"({"action":"allow","users":["a:b"]})", R"(,"users":{"file":"/f"})"),
       ", access.rules[0].users[0]"},
      {rules("", R"(,"users":{})"), ", access.users"},
      {rules("", R"(,"users":{"file":"/f","realm":"a\"b"})"), ", access.users.realm"},
      {rules("", R"(,"users":"/f")"), ", access.users"},
  };
  for (const auto& [text, path] : faults) {
    const auto refused = load(text);
    ASSERT_TRUE(refused.has_error()) << text;
    const auto errors = refused.error();
    EXPECT_EQ(errors.size(), 1U) << text;
    EXPECT_TRUE(errors[0].where.ends_with(path)) << errors[0].where;
  }
}

struct RuleFault {
  std::string list, path, words;
};

TEST(AccessRules, AreRefusedWithTheirPlaceAndTheReason) {
  const std::string deny = R"({"action":"deny",)";
  for (const RuleFault& c : {
           RuleFault{"7", "rules[0]", "found the number 7"},
           RuleFault{"{}", "rules[0]", "expected \"action\""},
           RuleFault{R"({"action":"alow"})", "rules[0].action", "mean \"allow\"?"},
           RuleFault{deny + R"("clients":["lan"]})", "rules[0].clients[0]", "found \"lan\""},
           RuleFault{deny + R"("clients":[]})", "rules[0].clients", "is empty"},
           RuleFault{deny + R"("to":[]})", "rules[0].to", "is empty"},
           RuleFault{deny + R"("to":["a.test/x"]})", "rules[0].to[0]", "\"*.example.com\""},
           RuleFault{deny + R"("ports":["0"]})", "rules[0].ports[0]", "\"1025-65535\""},
           RuleFault{deny + R"("ports":["443-80"]})", "rules[0].ports[0]", "\"1025-65535\""},
           RuleFault{deny + R"("ports":["80-"]})", "rules[0].ports[0]", "\"1025-65535\""},
           RuleFault{deny + R"("ports":[65536]})", "rules[0].ports[0]", "the number 65536"},
           RuleFault{deny + R"("methods":["get"]})", "rules[0].methods[0]", "in upper case"},
           RuleFault{deny + R"("methods":["A B"]})", "rules[0].methods[0]", "upper case"},
           RuleFault{deny + R"("schemes":["ftp"]})", "rules[0].schemes[0]", "\"https\""},
           RuleFault{deny + R"("times":["8-18"]})", "rules[0].times[0]", "\"mon-fri 08:00-18:00\""},
           RuleFault{deny + R"("client":["any"]})", "rules[0].client", "mean \"clients\"?"},
           RuleFault{deny + R"("name":"7"})", "rules[0].name", "a letter"},
           RuleFault{deny + R"("name":"a b"})", "rules[0].name", "found \"a b\""},
           RuleFault{deny + R"("name":"a"},)" + deny + R"("name":"a"})", "rules[1].name",
                     "also the name of access.rules[0]"},
       }) {
    const auto settings = load(rules(c.list));
    ASSERT_TRUE(settings.has_error()) << c.list;
    const auto errors = settings.error();
    EXPECT_EQ(errors.size(), 1U) << c.list;
    const auto& [where, what] = errors.front();
    EXPECT_NE(where.find(", access." + c.path), std::string::npos) << where;
    EXPECT_NE(what.find(c.words), std::string::npos) << what;
  }
}

}  // namespace
}  // namespace config
