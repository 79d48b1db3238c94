// Forwarded (RFC 7239) and X-Forwarded-For by the setting `forwarded`.
#include <gtest/gtest.h>

#include "tests/scenario/peers/peer_scene.hpp"
#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

const Fields kSaid{{"Forwarded", "for=192.0.2.7"}, {"X-Forwarded-For", "192.0.2.7"}};

struct Told {
  std::string setting;
  std::string forwarded;
  std::string x_forwarded_for;
};

TEST(Forwarded, SaysToOriginsWhatTheSettingWants) {
  for (const auto& [setting, forwarded, x_forwarded_for] :
       {Told{"off", "for=192.0.2.7", "192.0.2.7"},
        Told{"append", "for=192.0.2.7, for=127.0.0.1", "192.0.2.7, 127.0.0.1"},
        Told{"replace", "for=127.0.0.1", "127.0.0.1"}, Told{"remove", "", ""}}) {
    Scene scene(json{{"forwarded", setting}});
    for (const char* method : {"GET", "POST"}) {  // by a fill, and passed on
      const std::string path = std::string("/") + method;
      scene.client.request(method, scene.origin.url(path), kSaid);
      const Request request = scene.origin.requests(path).at(0);
      EXPECT_EQ(request.field("Forwarded"), forwarded) << setting << path;
      EXPECT_EQ(request.field("X-Forwarded-For"), x_forwarded_for) << setting << path;
    }
  }
}

TEST(Forwarded, IsNotAddedByDefault) {
  Scene scene;
  scene.client.get(scene.origin.url("/a"));
  const Request request = scene.origin.requests("/a").at(0);
  EXPECT_FALSE(request.has("Forwarded") || request.has("X-Forwarded-For"));
}

TEST(Forwarded, CannotBeTakenOutByTheClientsConnection) {
  Scene scene(json{{"forwarded", "append"}});
  scene.client.get(scene.origin.url("/a"), {{"Connection", "X-Forwarded-For, Forwarded"}});
  EXPECT_EQ(scene.origin.requests("/a").at(0).field("X-Forwarded-For"), "127.0.0.1");
}

TEST(Forwarded, SelectsWhatIsStoredByWhatTheOriginSaw) {
  Scene scene(json{{"forwarded", "append"}});
  scene.origin.on("/a", [](const Request& request) {
    return cacheable(request.field("X-Forwarded-For")).with("Vary", "X-Forwarded-For");
  });
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).body, "127.0.0.1");
  EXPECT_TRUE(is_hit(scene.client.get(scene.origin.url("/a"))));
  const Response other = scene.client.get(scene.origin.url("/a"), kSaid);
  EXPECT_EQ(other.body, "192.0.2.7, 127.0.0.1");
}

}  // namespace
}  // namespace scenario
