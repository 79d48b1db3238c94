// Which blocks of a large object may be stored and served to others, by the fields of each part.
#include <gtest/gtest.h>

#include "tests/scenario/large/large_scene.hpp"

namespace scenario {
namespace {

const Fields kCredentials{{"Authorization", "Basic bWU6bWU="}};

// The first two blocks are stored. Later parts may have another Cache-Control, or require
// credentials.
struct StoringScene : LargeScene {
  explicit StoringScene(const std::string& first = "max-age=3600") : LargeScene(32 * kMiB) {
    cache_control = first;
    get("0-2000000");
    EXPECT_TRUE(is_hit(get("0-100")));
  }
  void admit_only_with_credentials() {
    origin.on("/a", [this](const Request& request) {
      if (request.has("Authorization")) return answer(request);
      return Reply(401, {{"WWW-Authenticate", "Basic realm=x"}, {"Cache-Control", "no-store"}});
    });
  }
  Response later(const Fields& fields = {}) { return get("10485760-12582911", fields); }
  void expect_later(const Response& response) const {
    expect_part(response, {10'485'760, 12'582'911});
  }
};

TEST(LargeStoring, APartThatForbidsStoringIsNotStored) {
  for (const char* control : {"no-store", "private", "private, max-age=60"}) {
    StoringScene scene;
    scene.cache_control = control;
    for (int round = 0; round < 2; ++round) {
      const Response part = scene.later();
      scene.expect_later(part);
      EXPECT_FALSE(is_hit(part)) << control;
      EXPECT_EQ(part.field("Cache-Control"), control);
    }
    EXPECT_FALSE(is_hit(scene.get("0-100"))) << "the origin has taken it back: " << control;
  }
}

TEST(LargeStoring, AllIsAsFreshAsTheLatestPartSays) {
  for (const char* control : {"max-age=0", "no-cache"}) {
    StoringScene scene;
    scene.cache_control = control;
    scene.expect_later(scene.later());
    const auto before = scene.origin.count();
    const Response first = scene.get("0-100");
    scene.expect_part(first, {0, 100});
    EXPECT_TRUE(contains(first.field("Cache-Status"), "fwd=stale")) << control;
    scene.expect_later(scene.later());
    const auto asked = scene.origin.requests("/a");
    ASSERT_EQ(asked.size(), before + 2);
    EXPECT_TRUE(asked[before].has("If-None-Match") && asked[before + 1].has("If-None-Match"))
        << "its blocks are kept: " << control;
  }
}

TEST(LargeStoring, AnAnswerToCredentialsIsForNoOtherClient) {
  for (const std::string control : {"max-age=3600", "private", "no-store"}) {
    for (const char* held : {"max-age=3600", "public, max-age=3600"}) {
      StoringScene scene(held);
      scene.cache_control = control;
      scene.admit_only_with_credentials();
      scene.expect_later(scene.later(kCredentials));
      EXPECT_EQ(scene.later().status, 401) << held << ", then " << control;
      scene.cache_control = "max-age=3600";
      EXPECT_TRUE(is_hit(scene.get("0-100"))) << "is held for all";
    }
  }
}

TEST(LargeStoring, AnAnswerForAllIsStoredEvenWithCredentials) {
  for (const char* control : {"public, max-age=3600", "s-maxage=3600"}) {
    StoringScene scene(control);
    scene.admit_only_with_credentials();
    scene.expect_later(scene.later(kCredentials));
    const Response part = scene.later();
    scene.expect_later(part);
    EXPECT_TRUE(is_hit(part)) << control;
  }
}

TEST(LargeStoring, NoClientReadsAPrivatePartOnItsWayToAnother) {
  StoringScene scene("public, max-age=3600");
  scene.cache_control = "private";
  Gate gate;
  scene.origin.on("/a", [&](const Request& request) {
    if (!request.has("Authorization")) return Reply(401);
    const auto [first, last] = scene.span_of(request.field("Range"));
    const auto text = "bytes " + std::to_string(first) + '-' + std::to_string(last) + '/' +
                      std::to_string(scene.size);
    return scene.described(Reply(206, {{"Content-Range", text}}))
        .sized(last - first + 1)
        .send(pattern(first, 300'000))
        .wait(gate)
        .send(pattern(first + 300'000, last - first + 1 - 300'000));
  });
  Client first(scene.proxy().port());
  auto fields = kCredentials;
  fields.emplace_back("Range", "bytes=10485760-12582911");
  first.send(request_text("GET", scene.origin.url("/a"), fields));
  Response part = first.read_head();
  EXPECT_EQ(first.read_body(200'000), pattern(10'485'760, 200'000));
  EXPECT_EQ(scene.later().status, 401);
  gate.open();
}

// The next request must not find it while the first one's end is still being dealt with.
TEST(LargeStoring, ABodyIsAHitFromItsLastByteOnThoughItsClientLeavesThere) {
  for (const std::uint64_t size : {std::uint64_t{300'000}, 3 * kMiB + 5}) {
    LargeScene scene(size);
    for (int i = 0; i < 20; ++i) {
      const auto path = "/a" + std::to_string(i);
      scene.origin.on(path, [&](const Request& request) { return scene.answer(request); });
      Client client(scene.proxy().port());
      client.send(request_text("GET", scene.origin.url(path)));
      client.read_head();
      client.read_body(size);
      client.leave();
      scene.expect_whole(scene.ask("GET", path));
      EXPECT_EQ(scene.origin.count(path), 1U) << path;
    }
  }
}

}  // namespace
}  // namespace scenario
