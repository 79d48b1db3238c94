#include "proxy/client/arrival.hpp"

#include <gtest/gtest.h>

#include "tests/peers/samples.hpp"
#include "tests/proxy/client/serve_scene.hpp"

namespace proxy::client {
namespace {

struct Arriving {
  const char* name;
  std::string line;
  std::string host;
  policy::Arrival arrival;
  bool mapped;
};
class ArrivalOf : public testing::TestWithParam<Arriving> {};

// One mapping, of www.example.com.
TEST_P(ArrivalOf, TellsWhoChoseTheOrigin) {
  const auto& tested = GetParam();
  auto settings = quiet_settings();
  settings.gateway.reverse.resize(1);
  settings.gateway.reverse[0].host = "www.example.com";
  settings.gateway.reverse[0].to = {{false, "10.0.0.9", 80}};
  const Scene scene(settings);
  const auto text = tested.line + " HTTP/1.1\r\nHost: " + tested.host + "\r\n\r\n";
  const auto request = policy::parse_request(text, {}).value();
  request->pin(scene.policy);
  record_arrival(scene.client, *request);
  EXPECT_EQ(request->terms().chooses_origin, tested.arrival == policy::Arrival::forward);
  EXPECT_EQ(request->mapping() != nullptr, tested.mapped);
}

const std::string kMapped = "www.example.com";

INSTANTIATE_TEST_SUITE_P(
    Targets, ArrivalOf,
    testing::Values(
        Arriving{"OriginFormOfAMappedHost", "GET /a", kMapped, policy::Arrival::reverse, true},
        Arriving{"OriginFormOfAnotherHost", "GET /a", "a.test", policy::Arrival::reverse, false},
        Arriving{"Asterisk", "OPTIONS *", kMapped, policy::Arrival::reverse, true},
        Arriving{"AbsoluteForm", "GET http://a.test/a", "a.test", policy::Arrival::forward, false},
        Arriving{"AbsoluteFormOfAMappedHost", "GET http://www.example.com/", kMapped,
                 policy::Arrival::forward, false},
        Arriving{"AbsoluteFormOfOurSocket", "GET http://127.0.0.1:3128/", "127.0.0.1:3128",
                 policy::Arrival::reverse, false},
        Arriving{"AbsoluteFormOfOurName", "GET http://cache-a:3128/", "cache-a:3128",
                 policy::Arrival::reverse, false},
        Arriving{"Tunnel", "CONNECT www.example.com:80", "www.example.com:80",
                 policy::Arrival::forward, false}),
    [](const auto& tested) { return tested.param.name; });

// The lines that a browser sends with every request, and programs do not.
TEST(MirrorPath, IsReadByNoPageUnderANameThatIsNotOurs) {
  const struct {
    const char* host;
    const char* lines;
    mirrors::Mirrored mirrored;
  } cases[] = {
      {"evil.test", "Sec-Fetch-Site: same-origin\r\n", mirrors::Mirrored::no},
      {"evil.test", "Origin: http://evil.test\r\n", mirrors::Mirrored::no},
      {"evil.test", "Accept-Language: en\r\n", mirrors::Mirrored::no},
      {"cache.lan", "Accept: */*\r\n", mirrors::Mirrored::not_listed},
      {"cache-a", "Sec-Fetch-Site: same-origin\r\n", mirrors::Mirrored::not_listed},
      {"127.0.0.1:3128", "Accept-Language: en\r\n", mirrors::Mirrored::not_listed},
  };
  for (const auto& c : cases) {
    const Scene scene(quiet_settings());
    const auto text =
        "GET /https/a.test/x HTTP/1.1\r\nHost: " + std::string(c.host) + "\r\n" + c.lines + "\r\n";
    const auto request = policy::parse_request(text, {}).value();
    request->pin(scene.policy);
    record_arrival(scene.client, *request);
    EXPECT_EQ(request->terms().mirrored, c.mirrored) << c.host << ' ' << c.lines;
  }
}

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
  ServeScene scene(settings);
  scene.client.address = *config::parse_address(GetParam().client);
  const std::string text =
      "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"
      "Cache-Control: only-if-cached\r\n" +
      GetParam().lines + "\r\n";
  const auto request = policy::parse_request(text, {}).value();
  begin_request(scene.client, *request);
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

TEST(ARequestOfAProxy, NamesTheNeighbourInTheRecord) {
  auto settings = quiet_settings();
  settings.peers = {peers::samples::peer("b"), peers::samples::peer("c"),
                    peers::samples::peer("d")};
  settings.peers[0].host = "10.9.9.9";
  settings.peers[1].host = settings.peers[2].host = "10.9.9.8";
  settings.access.peers = *config::parse_networks("10.8.0.0/16");
  struct Asker {
    std::string address;
    std::string lines;
    std::string neighbour;
  };
  for (const Asker& asker : {Asker{"10.9.9.9", kVia, "b"}, Asker{"10.9.9.9", "", ""},
                             Asker{"10.9.9.8", kVia, "10.9.9.8"},
                             Asker{"10.8.1.1", kVia, "10.8.1.1"}, Asker{"10.1.1.1", kVia, ""}}) {
    ServeScene scene(settings);
    scene.client.address = *config::parse_address(asker.address);
    scene.client.address_text = asker.address;
    const std::string text =
        "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n" + asker.lines + "\r\n";
    const auto request = policy::parse_request(text, {}).value();
    begin_request(scene.client, *request);
    EXPECT_EQ(scene.record.neighbour, asker.neighbour) << asker.address << ' ' << asker.lines;
  }
}

}  // namespace
}  // namespace proxy::client
