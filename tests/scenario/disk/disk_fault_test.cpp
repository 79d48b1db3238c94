// A disk with wrong bytes, without room, or gone: no damaged response is served, and the proxy
// continues.
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <random>

#include "tests/scenario/disk/cache_pages.hpp"
#include "tests/scenario/disk/disk_scene.hpp"
#include "tests/support/space_taken.hpp"

namespace scenario {
namespace {

bool tells(DiskScene& scene, std::string_view text) {
  return await([&] { return contains(scene.proxy().page("/health").body, text); });
}

std::vector<std::filesystem::path> segments(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> found;
  for (const auto& item : std::filesystem::directory_iterator(directory)) {
    if (item.path().extension() == ".segment") found.push_back(item.path());
  }
  return found;
}

// Flips one bit of the first byte of this text, in any segment.
void flip_a_bit_of(const std::filesystem::path& directory, std::string_view text) {
  for (const auto& path : segments(directory)) {
    std::string bytes = read_file(path);
    const auto at = bytes.find(text);
    if (at == bytes.npos) continue;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    write_file(path, bytes);
    return;
  }
  FAIL() << "no segment has " << text;
}

struct Flipped {
  const char* name;
  const char* text;
};
class AFlippedBit : public testing::TestWithParam<Flipped> {};

TEST_P(AFlippedBit, IsNeverServed) {
  DiskScene scene;
  scene.origin.on("/a", cacheable("the-body-of-a").with("X-A", "a-field"));
  scene.get("/a");
  scene.settle(1);
  scene.end();
  flip_a_bit_of(scene.directory(), GetParam().text);
  scene.begin();
  const Response response = scene.get("/a");
  EXPECT_EQ(response.body, "the-body-of-a");
  EXPECT_EQ(response.field("X-A"), "a-field");
  EXPECT_FALSE(is_hit(response));
  EXPECT_EQ(scene.origin.count(), 2U);
  EXPECT_EQ(scene.disk("corrupt_total"), 1);
  EXPECT_TRUE(contains(scene.proxy().process().errors(), scene.origin.url("/a")));
  EXPECT_TRUE(tells(scene, "were damaged or unreadable (1 so far), and dropped: look whether"));
  EXPECT_TRUE(is_hit(scene.get("/a")));
}

INSTANTIATE_TEST_SUITE_P(Of, AFlippedBit,
                         testing::Values(Flipped{"TheBody", "the-body-of-a"},
                                         Flipped{"TheHead", "a-field"},
                                         Flipped{"TheUrl", "http://127.0.0.1"},
                                         Flipped{"TheRecord", "HREC"}),
                         [](const auto& tested) { return tested.param.name; });

TEST(AThousandFlippedBits, AreNeverServed) {
  DiskScene scene;
  constexpr int kUrls = 60;
  const auto body_of = [](const std::string& path) {
    return numbered_bytes(100 * static_cast<std::size_t>(std::stoi(path.substr(1)))) + path;
  };
  scene.origin.otherwise([&](const Request& request) { return cacheable(body_of(request.path)); });
  for (int i = 0; i < kUrls; ++i) scene.get("/" + std::to_string(i));
  scene.settle(kUrls);
  std::mt19937 random(1);
  for (int round = 0; round < 5; ++round) {
    scene.end();
    for (const auto& path : segments(scene.directory())) {
      std::string bytes = read_file(path);
      for (int i = 0; i < 200; ++i) {
        auto& byte = bytes[random() % bytes.size()];
        byte = static_cast<char>(byte ^ (1 << random() % 8));
      }
      write_file(path, bytes);
    }
    scene.begin();
    for (int i = 0; i < kUrls; ++i) {
      const auto path = "/" + std::to_string(i);
      const Response response = scene.get(path);
      EXPECT_TRUE(response.whole && response.body == body_of(path)) << path;
    }
  }
}

TEST(AFullDisk, IsToldOfAndWaitedOut) {
  DiskScene scene(json{{"log", {{"access", "none"}}}});
  scene.origin.otherwise([](const Request& request) { return cacheable("of " + request.path); });
  scene.get("/a");
  scene.settle(1);
  const auto allow = [&](rlim_t bytes) {
    const rlimit limit{bytes, RLIM_INFINITY};
    EXPECT_EQ(::prlimit(scene.proxy().process().pid(), RLIMIT_FSIZE, &limit, nullptr), 0);
  };
  allow(100);
  EXPECT_EQ(scene.get("/b").body, "of /b");
  ASSERT_TRUE(await([&] { return scene.health().at("state") == "resting"; }));
  EXPECT_TRUE(contains(scene.health().at("reason").get<std::string>(), "space"));
  EXPECT_TRUE(is_hit(scene.get("/b")));
  const Response purge = scene.ask("PURGE", "/a", kOnPurpose);
  EXPECT_EQ(purge.body, "{\"purged\": 1, \"owed\": true}\n");
  EXPECT_FALSE(scene.holds("/a"));
  allow(RLIM_INFINITY);
  ASSERT_TRUE(await([&] { return scene.health().at("state") == "working"; }));
  scene.get("/c");
  scene.settle(3);  // the purge that was owed included
  scene.crash();
  EXPECT_TRUE(scene.holds("/c"));
  EXPECT_FALSE(scene.holds("/a"));
}

TEST(ADirectory, ThatGoesIsToldOfAndDoneWithoutUntilItIsBack) {
  DiskScene scene;
  scene.origin.otherwise([](const Request& request) { return cacheable("of " + request.path); });
  scene.get("/a");
  scene.settle(1);
  EXPECT_EQ(scene.health().at("state"), "working");
  std::filesystem::remove_all(scene.directory());
  ASSERT_TRUE(await([&] { return scene.health().at("state") == "resting"; }));
  EXPECT_TRUE(contains(scene.health().at("reason").get<std::string>(), "directory"));
  EXPECT_TRUE(is_hit(scene.get("/a"))) << "memory has it";
  EXPECT_EQ(scene.get("/b").body, "of /b");
  EXPECT_TRUE(is_hit(scene.get("/b")));
  EXPECT_EQ(scene.ask("PURGE", "/b", kOnPurpose).status, 200);
  ASSERT_TRUE(await([&] { return scene.health().at("state") == "working"; }));
  ASSERT_TRUE(await([&] { return contains(scene.proxy().process().errors(), "is back"); }));
  scene.get("/c");
  scene.settle(2);
  scene.restart();
  EXPECT_TRUE(scene.holds("/c"));
  EXPECT_FALSE(scene.holds("/b"));
}

TEST(ADirectory, ThatIsEmptiedIsReportedAndLaterEntriesSurviveACrash) {
  DiskScene scene;
  scene.origin.otherwise([](const Request& request) { return cacheable("of " + request.path); });
  scene.get("/a");
  scene.settle(1);
  for (const auto& item : std::filesystem::directory_iterator(scene.directory())) {
    std::filesystem::remove_all(item.path());
  }
  ASSERT_TRUE(await([&] { return scene.health().at("state") == "resting"; }));
  EXPECT_TRUE(contains(scene.health().at("reason").get<std::string>(), "its content is gone"));
  ASSERT_TRUE(await([&] { return scene.health().at("state") == "working"; }));
  EXPECT_TRUE(tells(scene, "was removed, emptied or unmounted while in use"));
  scene.get("/b");
  scene.settle(2);
  scene.crash();
  EXPECT_TRUE(scene.holds("/b"));
  EXPECT_FALSE(scene.holds("/a"));
}

TEST(ADirectory, ThatCannotBeMadeIsNoReasonNotToServe) {
  TemporaryDirectory home;
  write_file(home / "file", "x");
  const auto path = (home / "file").string() + "/cache";
  const ProxyProcess proxy(json{{"cache", {{"disk", {{"path", path}, {"size", "64MiB"}}}}}});
  const json health = json::parse(proxy.page("/health").body);
  EXPECT_EQ(health.at("status"), "degraded");
  EXPECT_EQ(health.at("disk").at("state"), "resting");
}

TEST(ADirectory, OfRubbishIsPassedOver) {
  DiskScene scene;
  scene.end();
  write_file(scene.directory() / "00000001.segment", numbered_bytes(100'000));
  write_file(scene.directory() / "00000002.segment", "");
  write_file(scene.directory() / "notes.txt", "mine");
  scene.begin();
  scene.origin.on("/a", cacheable("hello"));
  EXPECT_EQ(scene.get("/a").body, "hello");
  scene.settle(1);
  scene.restart();
  EXPECT_TRUE(scene.holds("/a"));
  EXPECT_EQ(read_file(scene.directory() / "notes.txt"), "mine");
}

TEST(ADirectory, NeverTakesMoreThanItsSizeAndNothingThatWentIsClaimed) {
  DiskScene scene(json{{"cache", {{"memory", "16MiB"}}}});  // holds the newest of what the disk has
  const std::string body = numbered_bytes(1'000'000);
  scene.origin.otherwise([&](const Request&) { return cacheable(body); });
  std::uint64_t most = 0;
  for (int i = 0; i < 100; ++i) {
    scene.get("/" + std::to_string(i));
    most = std::max(most, support::space_taken(scene.directory()));
    scene.settle(static_cast<std::size_t>(i + 1));
  }
  EXPECT_LE(most, 64 << 20);
  EXPECT_GT(scene.disk("reclaimed_total"), 0);
  EXPECT_LE(scene.disk("used_bytes"), 64 << 20);
  EXPECT_LT(scene.disk("entries"), 70);
  // Memory may hold a response that the disk has already dropped.
  const auto listed = lines_of(ask_page(scene.proxy(), "GET", "/admin/cache/list").body);
  EXPECT_LT(listed.size(), 80U);
  EXPECT_TRUE(await([&] { return scene.proxy().digest().at("entries") == listed.size(); }))
      << scene.proxy().digest().at("entries") << " claimed, " << listed.size() << " held";
}

}  // namespace
}  // namespace scenario
