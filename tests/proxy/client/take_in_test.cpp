#include "proxy/client/take_in.hpp"

#include <gtest/gtest.h>

#include "tests/peers/samples.hpp"
#include "tests/proxy/scene.hpp"

namespace proxy {
namespace {

struct Asking {
  const char* name;
  std::string client;
  std::string lines;
  bool may_be_neighbour;
};
class OnlyIfCachedOf : public testing::TestWithParam<Asking> {};

// 10.9.9.9 is a neighbour, 10.8.0.0/16 may read our digest, and loopback is an admin.
TEST_P(OnlyIfCachedOf, IsTakenForANeighboursByTheAddress) {
  auto settings = quiet_settings();
  settings.peers.push_back(peers::samples::peer("b"));
  settings.peers[0].host = "10.9.9.9";
  settings.access.peers = *config::parse_networks("10.8.0.0/16");
  Scene scene(settings);
  scene.client.address = *config::parse_address(GetParam().client);
  const std::string text =
      "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"
      "Cache-Control: only-if-cached\r\n" +
      GetParam().lines + "\r\n";
  const auto request = parse_request(text, {}).value();
  take_in(scene.client, *request);
  EXPECT_EQ(request->facts.from_neighbour, GetParam().may_be_neighbour);
  EXPECT_EQ(scene.record.by_proxy, GetParam().may_be_neighbour || !GetParam().lines.empty());
}

const std::string kVia = "Via: 1.1 b\r\n";

INSTANTIATE_TEST_SUITE_P(Clients, OnlyIfCachedOf,
                         testing::Values(Asking{"Client", "10.1.1.1", "", false},
                                         Asking{"ProxyOfAClient", "10.1.1.1", kVia, false},
                                         Asking{"Neighbour", "10.9.9.9", kVia, true},
                                         Asking{"NeighbourWithoutVia", "10.9.9.9", "", true},
                                         Asking{"ReaderOfOurDigest", "10.8.1.1", "", true},
                                         Asking{"Admin", "127.0.0.1", "", false},
                                         Asking{"ProxyOfAnAdmin", "127.0.0.1", kVia, true}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace proxy
