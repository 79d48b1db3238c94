#include "proxy/policy/access.hpp"

#include <gtest/gtest.h>

#include "config/load.hpp"
#include "proxy/lists/read.hpp"
#include "tests/proxy/cache/messages.hpp"
#include "tests/proxy/policy/requests.hpp"

namespace proxy::policy {
namespace {

using Why = NoAccess::Why;

config::Settings settings_of(const std::string& access, const std::string& more = "") {
  const auto loaded = config::load("{\"access\":{" + access + "}" + more + "}");
  EXPECT_TRUE(loaded.has_value()) << access;
  return *loaded;
}

// A policy, and what the rules of access ask besides.
struct Gate {
  explicit Gate(const config::Settings& settings, lists::AccessLists listed = {})
      : policy(std::make_shared<const Policy>(settings, std::move(listed))),
        guard(policy->settings.access, {}) {}

  std::unique_ptr<Request> request(const std::string& line, Arrival arrival = Arrival::forward) {
    texts.push_back(line + " HTTP/1.1\r\nHost: a.test\r\n\r\n");
    auto parsed = parse_request(texts.back(), {}).value();
    parsed->pin(policy);
    const auto& target = parsed->target;
    const bool is_forward = arrival == Arrival::forward;
    parsed->arrive(arrival, is_forward ? nullptr : policy->gateway.find(target.host(), 80));
    return parsed;
  }
  AccessAsker asker(const config::Address& address, std::string_view user = {}) {
    return {address, user, clock, guard};
  }
  // Nothing: the client may.
  std::optional<NoAccess> check(const std::string& client, const std::string& line,
                                std::string_view user = {}, Arrival arrival = Arrival::forward) {
    const auto address = *config::parse_address(client);
    return check_access(asker(address, user), *request(line, arrival));
  }

  PinnedPolicy policy;
  upstream::Guard guard;
  machine::Clock clock{cache::kStart};
  std::deque<std::string> texts;  // of the requests, which refer to them
};

TEST(CheckAccess, DeniesWhomAndWhatTheSettingsDoNotName) {
  Gate gate{config::Settings()};
  struct Case {
    const char* client;
    const char* line;
    std::optional<Why> why;
  };
  for (const Case& c : {
           Case{"192.168.0.9", "GET http://a.test/", {}},
           Case{"203.0.113.1", "GET http://a.test/", Why::not_a_client},
           Case{"127.0.0.1", "GET http://127.0.0.1/", Why::no_destination},
           Case{"127.0.0.1", "GET http://localhost/", Why::no_destination},
           Case{"127.0.0.1", "GET http://[::ffff:127.0.0.1]/", Why::no_destination},
           Case{"127.0.0.1", "GET http://169.254.169.254/", Why::no_destination},
           Case{"127.0.0.1", "CONNECT a.test:443", {}},
           Case{"127.0.0.1", "CONNECT a.test:25", Why::no_tunnel_port},
           Case{"127.0.0.1", "CONNECT 127.0.0.1:443", Why::no_destination},
       }) {
    const auto no_access = gate.check(c.client, c.line);
    EXPECT_EQ(no_access ? std::optional(no_access->why) : std::nullopt, c.why) << c.line;
  }
}

TEST(CheckAccess, DeniesWhatAListBlocks) {
  lists::ListBuilder block;
  ASSERT_EQ(lists::read_line("a.test", block), lists::Line::read);
  Gate gate(config::Settings(), {std::move(block).finish(), {}});
  EXPECT_EQ(gate.check("127.0.0.1", "GET http://a.test/"), NoAccess{Why::list});
  EXPECT_EQ(gate.check("127.0.0.1", "GET http://b.test/"), std::nullopt);
}

TEST(CheckAccess, FollowsTheFirstRuleThatMatches) {
  Gate gate(settings_of(R"("rules": [{"action": "deny", "name": "no-games", "to": ["b.test"]},
                                     {"action": "allow", "name": "guests", "clients": ["203.0.113.0/24"]}])"));
  EXPECT_EQ(gate.check("127.0.0.1", "GET http://b.test/"), (NoAccess{Why::rule, "no-games"}));
  EXPECT_EQ(gate.check("203.0.113.1", "GET http://a.test/"), std::nullopt);
  EXPECT_EQ(gate.check("203.0.114.1", "GET http://a.test/"), NoAccess{Why::not_a_client});
}

TEST(CheckAccess, AsksOnlyClientsOfAProxyForAUser) {
  Gate gate(settings_of(R"("users": {"file": "/etc/users", "realm": "Us"},
                           "rules": [{"action": "allow", "name": "staff", "users": ["*"]}])",
                        R"(, "reverse": [{"host": "a.test", "to": "http://10.0.0.9"}])"));
  const std::string url = "GET http://b.test/";
  EXPECT_EQ(gate.check("127.0.0.1", url), (NoAccess{Why::unknown_user, "staff", "Us"}));
  EXPECT_EQ(gate.check("127.0.0.1", url, "ann"), std::nullopt);
  const NoAccess denied{Why::rule, "staff"};
  EXPECT_EQ(gate.check("127.0.0.1", "GET /x", {}, Arrival::reverse), denied);

  struct Case {
    const char* client;
    Arrival arrival;
    std::optional<NoAccess> no_access;
  };
  for (const auto& c : {Case{"127.0.0.1", Arrival::forward, {}},
                        Case{"10.0.0.1", Arrival::forward, NoAccess{Why::no_cleartext, "staff"}},
                        Case{"127.0.0.1", Arrival::reverse, denied}}) {
    const bool is_forward = c.arrival == Arrival::forward;
    const auto request = gate.request(is_forward ? url : "GET /x", c.arrival);
    const auto address = *config::parse_address(c.client);
    const auto* const rule = deciding_rule(gate.asker(address), *request);
    ASSERT_TRUE(rule);
    EXPECT_EQ(check_sign_in(gate.asker(address), *request, *rule), c.no_access) << c.client;
  }
}

TEST(CheckAccess, LetsNobodyChooseAnOriginWhereTheSettingsDo) {
  Gate gate(settings_of("", R"(, "forward": false,
                               "reverse": [{"host": "a.test", "to": "http://10.0.0.9"}])"));
  EXPECT_EQ(gate.check("127.0.0.1", "GET http://b.test/"), NoAccess{Why::no_forward});
  EXPECT_EQ(gate.check("127.0.0.1", "GET /x", {}, Arrival::reverse), std::nullopt);
}

TEST(NoAccess, SaysWhyInOneLineAndNamesTheRule) {
  EXPECT_EQ(text_of(NoAccess{Why::rule, "no-games"}),
            "the rule no-games denies this here (setting access.rules)");
  EXPECT_EQ(text_of(NoAccess{Why::unknown_user, "staff", "Us"}),
            "this proxy asks for a user and a password here (setting access.users)");
  EXPECT_EQ(status_of(Why::unknown_user), 407U);
  EXPECT_EQ(status_of(Why::unknown_url), 404U);
  EXPECT_EQ(status_of(Why::list), 403U);
}

}  // namespace
}  // namespace proxy::policy
