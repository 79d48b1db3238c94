// A file system made for the test, which is full or read-only.
#include <gtest/gtest.h>

#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>

#include "tests/scenario/disk/disk_scene.hpp"

namespace scenario {
namespace {

// A tmpfs that is visible to this process and its children only.
class OwnFileSystem {
 public:
  explicit OwnFileSystem(const char* options, unsigned long flags = 0) {
    // Works only while the process has one thread.
    made_ = ::unshare(CLONE_NEWNS) == 0 &&
            ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
            ::mount("none", path().c_str(), "tmpfs", flags, options) == 0;
    why_not_ = std::strerror(errno);
  }
  ~OwnFileSystem() {
    if (made_) ::umount2(path().c_str(), MNT_DETACH);
  }
  bool made() const { return made_; }
  std::string why_not() const { return std::string("no file system may be mounted: ") + why_not_; }

  std::filesystem::path path() const { return home_.path(); }
  // Settings for a cache in this file system.
  json settings() const {
    const auto cache = (path() / "cache").string();
    return {{"cache", {{"memory", "32MiB"}, {"disk", {{"path", cache}, {"size", "256MiB"}}}}}};
  }
  void mount_again(const char* options, unsigned long flags = 0) const {
    ASSERT_EQ(::mount("none", path().c_str(), "tmpfs", MS_REMOUNT | flags, options), 0)
        << std::strerror(errno);
  }

 private:
  TemporaryDirectory home_;
  bool made_ = false;
  const char* why_not_ = "";
};

bool rests(DiskScene& scene, std::string_view reason) {
  return await([&] { return scene.health().at("state") == "resting"; }) &&
         contains(scene.health().at("reason").get<std::string>(), reason);
}
bool works(DiskScene& scene) {
  return await([&] { return scene.health().at("state") == "working"; });
}

bool said(DiskScene& scene, std::string_view text) {
  return await([&] { return contains(scene.proxy().process().errors(), text); });
}

TEST(AFullFileSystem, StopsNoLargeResponseAndTakesBlocksAgainWhenThereIsRoom) {
  const OwnFileSystem own("size=50m");
  if (!own.made()) GTEST_SKIP() << own.why_not();
  write_file(own.path() / "of others", std::string(std::size_t{30} << 20, 'x'));
  DiskScene scene(own.settings());
  const std::string body = numbered_bytes(std::size_t{48} << 20);
  scene.origin.otherwise([&](const Request&) { return cacheable(body).with("ETag", "\"1\""); });
  EXPECT_TRUE(scene.get("/a").body == body) << "more than there is room for";
  EXPECT_TRUE(rests(scene, "space"));
  EXPECT_TRUE(contains(scene.proxy().process().errors(), "no space left"));
  EXPECT_TRUE(scene.get("/a").body == body) << "in part from blocks";
  own.mount_again("size=400m");
  ASSERT_TRUE(works(scene));
  EXPECT_TRUE(said(scene, "the cache on disk is back"));
  EXPECT_TRUE(scene.get("/b").body == body);
  ASSERT_TRUE(await([&] { return scene.disk("blocks") >= 48; }));
  EXPECT_TRUE(scene.get("/a").body == body);
  EXPECT_TRUE(scene.get("/b").body == body);
}

// The file system has room for two of the sixteen segments.
TEST(ASmallFileSystem, HoldsNewAndUsedEntries) {
  const OwnFileSystem own("size=40m");
  if (!own.made()) GTEST_SKIP() << own.why_not();
  auto settings = own.settings();
  settings["cache"]["memory"] = "256MiB";  // so that it remembers each use
  DiskScene scene(settings);
  const std::string body = numbered_bytes(500'000);
  scene.origin.otherwise([&](const Request&) { return cacheable(body); });
  scene.get("/used");
  for (int i = 1; i <= 120; ++i) {
    scene.get('/' + std::to_string(i));
    if (i % 10 == 0) {
      EXPECT_TRUE(is_hit(scene.get("/used"))) << i;
    }
  }
  scene.settle(121);
  EXPECT_GT(scene.disk("squeezed_out_total"), 2);
  EXPECT_EQ(scene.health().at("state"), "working");
  EXPECT_TRUE(await([&] {
    return contains(scene.proxy().process().errors(), "less room than cache.disk.size");
  }));
  const json health = json::parse(scene.proxy().page("/health").body);
  EXPECT_EQ(health.at("reasons").at(0).at("what"), "disk") << health;
  own.mount_again("size=400m");
  EXPECT_TRUE(said(scene, "has room again"));
  own.mount_again("size=40m");
  const Response purge = scene.ask("PURGE", "/120", kOnPurpose);
  EXPECT_EQ(purge.body, "{\"purged\": 1}\n");
  scene.crash();
  EXPECT_TRUE(scene.holds("/used"));
  EXPECT_TRUE(scene.holds("/119"));
  EXPECT_FALSE(scene.holds("/120"));
  EXPECT_FALSE(scene.holds("/1"));
}

TEST(AReadOnlyFileSystem, IsDoneWithoutUntilItMayBeWritten) {
  const OwnFileSystem own("size=300m", MS_RDONLY);
  if (!own.made()) GTEST_SKIP() << own.why_not();
  DiskScene scene(own.settings());
  scene.origin.otherwise([](const Request& request) { return cacheable("of " + request.path); });
  EXPECT_TRUE(rests(scene, "may not be written"));
  EXPECT_TRUE(contains(scene.proxy().process().errors(), "may not be written"));
  EXPECT_EQ(scene.get("/a").body, "of /a");
  EXPECT_TRUE(is_hit(scene.get("/a")));
  own.mount_again("size=300m");
  ASSERT_TRUE(works(scene));
  scene.get("/b");
  scene.settle(2);  // a purge of what /a may have replaced is written, too
  scene.crash();
  EXPECT_TRUE(scene.holds("/b"));
}

}  // namespace
}  // namespace scenario
