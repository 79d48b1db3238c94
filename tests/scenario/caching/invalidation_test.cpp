// An unsafe request invalidates what it may have changed (RFC 9111 section 4.4).
#include <gtest/gtest.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

struct HeldPage : Scene {
  HeldPage() {
    origin.otherwise([](const Request&) { return cacheable("hello"); });
    for (const char* path : {"/a", "/l", "/c"}) client.get(origin.url(path));
  }
  bool holds(const char* path) { return is_hit(client.get(origin.url(path))); }
};

TEST(Invalidation, FollowsAnyMethodThatIsNotKnownToBeSafe) {
  HeldPage scene;
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "M-SEARCH"}) {
    ASSERT_TRUE(scene.holds("/a"));
    scene.client.request(method, scene.origin.url("/a"), {}, "x");
    EXPECT_FALSE(scene.holds("/a")) << method;
  }
  scene.client.request("PROPFIND", scene.origin.url("/a"));
  EXPECT_TRUE(scene.holds("/a"));
}

TEST(Invalidation, TakesInWhatTheAnswerNamesAtTheSameOrigin) {
  HeldPage scene;
  const Fields names{{"Location", scene.origin.url("/l")}, {"Content-Location", "c"}};
  scene.origin.on("/a", Reply(201, names));
  scene.client.request("POST", scene.origin.url("/a"), {}, "x");
  EXPECT_FALSE(scene.holds("/l"));
  EXPECT_FALSE(scene.holds("/c"));
}

TEST(Invalidation, LeavesAloneWhatAnotherOriginNames) {
  HeldPage scene;
  ScriptedOrigin other;
  other.on("/a", Reply(201, {{"Location", scene.origin.url("/l")}}));
  scene.client.request("POST", other.url("/a"), {}, "x");
  EXPECT_TRUE(scene.holds("/l"));
}

TEST(Invalidation, DoesNotFollowAnError) {
  HeldPage scene;
  for (const int status : {404, 500}) {
    scene.origin.on("/a", Reply(status, {{"Location", "/l"}}));
    scene.client.request("POST", scene.origin.url("/a"), {}, "x");
    EXPECT_TRUE(scene.holds("/a") && scene.holds("/l")) << status;
  }
}

}  // namespace
}  // namespace scenario
