#include "proxy/reply/stored.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/client/serve_scene.hpp"

namespace proxy::reply {
namespace {

using namespace std::chrono_literals;

const std::string kInFile = "http://a.test/large";

std::string large_body() {
  std::string body;
  for (int i = 0; body.size() < 300'000; ++i) body += std::to_string(i) + ' ';
  return body;
}

// A stored response whose body memory has given up.
struct FileScene : client::ServeScene {
  FileScene() : client::ServeScene(client::quiet_settings(), {}, SceneTime::runs) {
    add_disk();
    store_response({.url = kInFile}, bytes);
    if (!disk->settle(10s)) throw std::runtime_error("no rest");
    store.invalidate(cache::key_of(kInFile), kInFile);
    response.can_send_files();
  }
  ~FileScene() { io.end_coroutines(); }

  tiers::Stored find() {
    const policy::TextRequest request("", "GET " + kInFile + " HTTP/1.1");
    const auto key = cache::key_of(kInFile);
    tiers::Stored stored;
    const tiers::Sought sought{key, clock.steady(), cache::Bodies::large_in_file};
    run(cached.find(*request, sought, stored));
    return stored;
  }

  const std::string bytes = large_body();
};

TEST(FromFile, TheBodyGoesToTheClientWithoutAWayThroughMemory) {
  FileScene scene;
  const auto found = scene.find();
  ASSERT_TRUE(found.found.entry && found.body);
  scene.run(send_from_file(scene.client, *found.found.entry, found.body));
  EXPECT_TRUE(scene.response.content() == scene.bytes);
  EXPECT_EQ(scene.response.from_files(), scene.bytes.size());
  EXPECT_EQ(scene.response.length(), scene.bytes.size());
  EXPECT_EQ(scene.response.status(), 200U);
  EXPECT_TRUE(scene.state.finished);
  EXPECT_EQ(scene.counters.bytes_from_cache.get(), scene.bytes.size());
}

TEST(FromFile, HeadGetsTheLengthAlone) {
  FileScene scene;
  scene.response.begin(true);
  const auto found = scene.find();
  ASSERT_TRUE(found.body);
  scene.run(send_from_file(scene.client, *found.found.entry, found.body));
  EXPECT_EQ(scene.response.content(), "");
  EXPECT_EQ(scene.response.length(), scene.bytes.size());
  EXPECT_EQ(scene.response.from_files(), 0U);
  EXPECT_TRUE(scene.state.finished);
}

TEST(FromFile, ABodyThatWasSavedGoesOnFromMemory) {
  FileScene scene;
  const auto found = scene.find();
  ASSERT_TRUE(found.body);
  found.body->save();
  ASSERT_TRUE(found.body->saved());
  std::uint64_t sent = 1000;
  scene.run(scene.response.start("HTTP/1.1 200 OK\r\n", 200, scene.bytes.size()));
  const auto error = scene.run(send_part_of_file(scene.client, found.body, sent, 2000));
  EXPECT_FALSE(error);
  EXPECT_EQ(sent, 2000U);
  EXPECT_EQ(scene.response.content(), scene.bytes.substr(1000, 1000));
}

struct PartCase {
  const char* name;
  std::uint64_t from;
  std::uint64_t end;
};

TEST(FromFile, APartOfTheBodyIsExactlyThat) {
  for (const PartCase& c : {PartCase{"front", 0, 10}, PartCase{"middle", 1000, 70'000},
                            PartCase{"nothing", 50, 50}, PartCase{"end", 299'000, 300'000}}) {
    FileScene scene;
    const auto found = scene.find();
    ASSERT_TRUE(found.body);
    auto sent = c.from;
    scene.run(scene.response.start("HTTP/1.1 206 OK\r\n", 206, c.end - c.from));
    EXPECT_FALSE(scene.run(send_part_of_file(scene.client, found.body, sent, c.end))) << c.name;
    EXPECT_EQ(sent, c.end) << c.name;
    EXPECT_EQ(scene.response.content(), scene.bytes.substr(c.from, c.end - c.from)) << c.name;
  }
}

}  // namespace
}  // namespace proxy::reply
