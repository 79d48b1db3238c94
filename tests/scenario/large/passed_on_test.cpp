// Long bodies that are neither stored nor shared: the kernel passes them on.
#include <gtest/gtest.h>

#include <optional>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

constexpr std::size_t kLong = 8U << 20;

TEST(ABodyPassedOn, ReachesAClientWholeThatStopsReadingForAMoment) {
  Scene scene;
  const std::string body = numbered_bytes(8 * kLong);
  scene.origin.on("/a", unstorable().body(body));
  scene.client.send(request_text("GET", scene.origin.url("/a")));
  Response response = scene.client.read_head();
  await_halt([&] { return scene.origin.body_bytes_sent(); });
  scene.client.read_rest(response);
  EXPECT_TRUE(response.whole);
  EXPECT_TRUE(response.body == body);
}

TEST(ABodyPassedOn, ReachesTheClientAsItArrives) {
  Scene scene;
  Gate gate;
  const std::string body = numbered_bytes(kLong);
  const auto half = kLong / 2;
  scene.origin.on(
      "/a",
      unstorable().sized(kLong).send(body.substr(0, half)).wait(gate).send(body.substr(half)));
  scene.client.send(request_text("GET", scene.origin.url("/a")));
  Response response = scene.client.read_head();
  EXPECT_TRUE(scene.client.read_body(half) == body.substr(0, half));
  gate.open();
  scene.client.read_rest(response);
  EXPECT_TRUE(response.whole);
  EXPECT_TRUE(response.body == body.substr(half));
}

TEST(ABodyPassedOn, KeepsBothConnectionsForTheNextRequest) {
  Scene scene;
  scene.origin.on("/a", unstorable().body(numbered_bytes(kLong)));
  scene.origin.on("/b", unstorable().body("small"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(scene.client.get(scene.origin.url("/a")).body.size(), kLong);
    EXPECT_EQ(scene.client.get(scene.origin.url("/b")).body, "small");
  }
  EXPECT_EQ(scene.origin.connections(), 1U);
}

TEST(ABodyPassedOn, IsCutIfTheOriginCutsIt) {
  Scene scene;
  scene.origin.on("/a", unstorable().sized(2 * kLong).send(numbered_bytes(kLong)).cut());
  const Response response = scene.client.get(scene.origin.url("/a"));
  EXPECT_FALSE(response.whole);
  EXPECT_TRUE(response.body == numbered_bytes(kLong));
}

TEST(ABodyPassedOn, IsCutIfTheOriginIsSilentForTooLong) {
  Scene scene(json{{"timeouts", {{"body", "300ms"}}}});
  Gate never;
  scene.origin.on("/a", unstorable().sized(2 * kLong).send(numbered_bytes(kLong)).wait(never));
  const Response response = scene.client.get(scene.origin.url("/a"));
  EXPECT_FALSE(response.whole);
  EXPECT_EQ(response.body.size(), kLong);
}

TEST(ABodyPassedOn, IsNotFetchedAnyMoreOnceItsClientHasLeft) {
  Scene scene;
  scene.origin.on("/a", unstorable().body(std::string(256U << 20, 'x')));
  std::optional<Client> client(std::in_place, scene.proxy.port());
  client->send(request_text("GET", scene.origin.url("/a")));
  client->read_head();
  client->read_body(kLong);
  client.reset();  // A mere shutdown is not noticed while the client has no room.
  EXPECT_TRUE(await([&] { return scene.origin.open_connections() == 0; }));
}

TEST(ABodyPassedOn, IsLoggedWithAllItsBytes) {
  Scene scene;
  scene.origin.on("/a", unstorable().body(numbered_bytes(kLong)));
  const Response response = scene.client.get(scene.origin.url("/a"));
  EXPECT_TRUE(response.whole);
  EXPECT_GT(scene.proxy.logged(scene.origin.url("/a")).bytes, kLong);
  EXPECT_EQ(scene.proxy.metric("hearsay_body_bytes_total{source=\"origin\"}"), kLong);
}

TEST(ABodyPassedOn, KeepsToTheLimitOfBandwidth) {
  Scene scene(json{{"limits", {{"bandwidth_per_client", "16MiB"}}}});
  scene.origin.on("/a", unstorable().body(numbered_bytes(4 * kLong)));
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_TRUE(scene.client.get(scene.origin.url("/a")).whole);
  EXPECT_GT(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(700));
}

}  // namespace
}  // namespace scenario
