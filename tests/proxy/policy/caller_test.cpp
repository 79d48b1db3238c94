#include "proxy/policy/caller.hpp"

#include <gtest/gtest.h>

#include "tests/peers/samples.hpp"
#include "tests/proxy/policy/requests.hpp"

namespace proxy::policy {
namespace {

using Proof = Caller::Proof;

// 10.9.9.9 is a neighbour, 10.8.0.0/16 may read our digest, 10.8.8.8 is an admin, too.
Policy policy_with_roles() {
  config::Settings settings;
  settings.peers.push_back(peers::samples::peer("b"));
  settings.peers[0].host = "10.9.9.9";
  auto& access = settings.access;
  access.peers = *config::parse_networks("10.8.0.0/16");
  access.admin = *config::parse_networks("10.8.8.8");
  access.admin.push_back(config::parse_networks("127.0.0.1")->front());
  access.monitor = *config::parse_networks("192.168.0.0/16");
  access.clients = *config::parse_networks("10.0.0.0/8");
  return {settings, {}};
}

TEST(Caller, HasTheRolesThatItsAddressAndDoorProve) {
  const auto policy = policy_with_roles();
  struct Case {
    const char* address;
    Caller caller;
    Door door = Door::network;
  };
  for (const Case& c : {
           Case{"203.0.113.1", {}},
           Case{"10.1.1.1", {.may_be_client = true}},
           Case{"10.9.9.9",
                {.neighbour = Proof::peer,
                .may_be_client = true,
                .peer = policy.directory->peers().front()}},
           Case{"10.8.1.1", {.neighbour = Proof::network, .may_be_client = true}},
           Case{"10.8.8.8",
                {.neighbour = Proof::network, .admin = Proof::network, .may_be_client = true}},
           Case{"127.0.0.1", {.admin = Proof::network}},
           Case{"127.0.0.1", {.admin = Proof::network}, Door::late},
           Case{"127.0.0.1", {.admin = Proof::control_socket}, Door::control},
           Case{"203.0.113.1", {.admin = Proof::control_socket}, Door::control},
           Case{"192.168.0.1", {.is_monitor = true}},
       }) {
    const auto caller = caller_of(policy, *config::parse_address(c.address), c.door);
    EXPECT_EQ(caller, c.caller) << c.address;
  }
}

TEST(Caller, MayBeAClientIfARuleLetsItUseTheProxy) {
  const auto may = [](const std::string& address, const std::optional<config::AccessRule>& rule) {
    config::Settings settings;
    if (rule) settings.access.rules.push_back(*rule);
    return caller_of(Policy(settings, {}), *config::parse_address(address)).may_be_client;
  };
  EXPECT_TRUE(may("10.1.2.3", {}));
  const std::string other = "192.0.2.1";
  EXPECT_FALSE(may(other, {}));
  config::AccessRule rule;
  EXPECT_FALSE(may(other, rule)) << "the rule denies";
  rule.allows = true;
  EXPECT_TRUE(may(other, rule));
  rule.clients = *config::parse_networks("10.0.0.0/8");
  EXPECT_FALSE(may(other, rule));
}

TEST(Relay, IsAProxyUnlessASquidAsksForItself) {
  const std::string digest = "Accept: application/cache-digest\r\n";
  const std::string squid = "Via: 1.1 a (squid/5.7)\r\n";
  const std::pair<std::string, Relay> cases[] = {
      {"", Relay::none},
      {digest, Relay::none},
      {"Via: 1.1 b\r\n", Relay::proxy},
      {"X-Forwarded-For: 10.0.0.1\r\n", Relay::proxy},
      {"Forwarded: for=10.0.0.1\r\n", Relay::proxy},
      {squid, Relay::proxy},
      {digest + squid, Relay::squid},
      {digest + squid + "X-Forwarded-For: ::\r\n", Relay::squid},
      {digest + squid + "X-Forwarded-For: unknown\r\n", Relay::squid},
      {digest + squid + "X-Forwarded-For: 10.0.0.1\r\n", Relay::proxy},
      {digest + squid + "Forwarded: for=10.0.0.1\r\n", Relay::proxy},
      {digest + squid + "User-Agent: curl\r\n", Relay::proxy},
      {digest + "Via: 1.1 b, 1.1 a (squid/5.7)\r\n", Relay::proxy},
      {digest + squid + squid, Relay::proxy},
  };
  for (const auto& [lines, relay] : cases) {
    const TextRequest request(lines);
    EXPECT_EQ(relay_of((*request).head.fields), relay) << lines;
  }
}

Mapping mapped(const char* host, bool share) {
  config::Reverse settings;
  settings.host = host;
  settings.share = share;
  settings.to = {{false, "10.0.0.9", 80}};
  return Mapping(settings);
}

TEST(Terms, FollowFromTheArrivalAndTheMapping) {
  const auto any = mapped("*", false);
  const auto named = mapped("a.test", false);
  const auto shared = mapped("a.test", true);
  const Terms proxy{.chooses_origin = true,
                    .uses_parents = true,
                    .may_sign_in = true,
                    .may_show_badge = true,
                    .own_pages = OwnPages::none,
                    .space = cache::Space::web};
  EXPECT_EQ(terms_of(Arrival::forward, nullptr), proxy);
  auto mirror = proxy;
  mirror.may_sign_in = mirror.may_show_badge = false;
  mirror.mirrored = mirrors::Mirrored::yes;
  EXPECT_EQ(terms_of(Arrival::mirror, nullptr), mirror);
  auto server = proxy;
  server.chooses_origin = server.may_sign_in = false;
  server.own_pages = OwnPages::all;
  EXPECT_EQ(terms_of(Arrival::reverse, nullptr), server);
  auto of_mapping = server;
  of_mapping.uses_parents = of_mapping.may_show_badge = false;
  of_mapping.own_pages = OwnPages::at_our_socket;
  EXPECT_EQ(terms_of(Arrival::reverse, &shared), of_mapping);
  of_mapping.space = cache::Space::gateway;
  EXPECT_EQ(terms_of(Arrival::reverse, &named), of_mapping);
  of_mapping.own_pages = OwnPages::at_any_name;
  EXPECT_EQ(terms_of(Arrival::reverse, &any), of_mapping);
}

}  // namespace
}  // namespace proxy::policy
