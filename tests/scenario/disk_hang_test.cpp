// A disk that does not answer, and one that may not be written any more.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "tests/scenario/disk_scene.hpp"

namespace scenario {
namespace {

using Steady = std::chrono::steady_clock;

// Preloads what can make the disk fail into what is started while it lives.
class DiskFaults {
 public:
  DiskFaults() {
    ::setenv("LD_PRELOAD", HEARSAY_DISK_FAULTS_LIBRARY, 1);
    ::setenv("HEARSAY_DISK_FAULTS", home_.path().c_str(), 1);
    ::setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 0);
  }
  ~DiskFaults() {
    ::unsetenv("LD_PRELOAD");
    ::unsetenv("HEARSAY_DISK_FAULTS");
  }
  void begin(const char* fault) { write_file(home_ / fault, ""); }
  void end(const char* fault) { std::filesystem::remove(home_ / fault); }

 private:
  TemporaryDirectory home_;
};

class ADiskThatFails : public testing::Test {
 protected:
  ADiskThatFails() {
    scene_.origin.otherwise([](const Request& request) { return cacheable("of " + request.path); });
  }
  void store_on_disk(const std::vector<std::string>& paths) {
    for (const auto& path : paths) scene_.get(path);
    scene_.settle(paths.size());
    scene_.restart();
  }
  // How long it took; the answer is the right one.
  Steady::duration fetch(const std::string& path) {
    const auto begun = Steady::now();
    EXPECT_EQ(scene_.get(path).body, "of " + path);
    return Steady::now() - begun;
  }
  bool rests(std::string_view reason) {
    const auto resting = [&] { return scene_.health().at("state") == "resting"; };
    return await(resting) && contains(scene_.health().at("reason").get<std::string>(), reason) &&
           await([&] { return contains(scene_.proxy().process().errors(), reason); });
  }
  bool works() {
    return await([&] { return scene_.health().at("state") == "working"; }) &&
           await([&] { return contains(scene_.proxy().process().errors(), "is back"); });
  }

  DiskFaults faults_;
  DiskScene scene_;
};

TEST_F(ADiskThatFails, ByHangingHoldsOneRequestUpBrieflyAndIsReadAgainWhenItAnswers) {
  store_on_disk({"/a", "/b", "/c"});
  ASSERT_TRUE(await([&] { return scene_.proxy().digest().at("entries") == 3; }));
  faults_.begin("reads_hang");
  EXPECT_LT(fetch("/a"), std::chrono::seconds(10)) << "from the origin";
  EXPECT_EQ(scene_.disk("slow_reads_total"), 1);
  EXPECT_TRUE(rests("does not answer"));
  EXPECT_LT(fetch("/b"), std::chrono::milliseconds(1500)) << "without a look at the disk";
  EXPECT_EQ(scene_.origin.count(), 5U);
  EXPECT_FALSE(scene_.holds("/c"));
  EXPECT_TRUE(await([&] { return scene_.proxy().digest().at("entries") == 2; })) << "in memory";
  faults_.end("reads_hang");
  EXPECT_TRUE(works());
  EXPECT_TRUE(scene_.holds("/c"));
  EXPECT_TRUE(await([&] { return scene_.proxy().digest().at("entries") == 3; }));
}

TEST_F(ADiskThatFails, ByHangingDoesNotHoldUpAPurgeNorTheEnd) {
  store_on_disk({"/a"});
  faults_.begin("writes_hang");
  const Response purge = scene_.ask("PURGE", "/a", {{"X-Hearsay", "1"}});
  EXPECT_EQ(purge.body, "{\"purged\": 1, \"owed\": true}\n");
  EXPECT_FALSE(scene_.holds("/a"));
  fetch("/b");
  EXPECT_TRUE(is_hit(scene_.get("/b")));
  EXPECT_TRUE(rests("does not answer"));
  EXPECT_EQ(scene_.proxy().terminate(), 0);
  EXPECT_TRUE(contains(scene_.proxy().process().errors(), "ended without it"));
  faults_.end("writes_hang");
}

TEST_F(ADiskThatFails, ByHangingWhileItIsReadDoesNotHoldUpTheEnd) {
  store_on_disk({"/a"});
  faults_.begin("reads_hang");
  fetch("/a");
  EXPECT_EQ(scene_.proxy().terminate(), 0);
  faults_.end("reads_hang");
}

TEST_F(ADiskThatFails, ByBeingReadOnlyIsReadAndWrittenAgainWhenItMayBe) {
  store_on_disk({"/a", "/b"});
  faults_.begin("read_only");
  fetch("/c");
  EXPECT_TRUE(rests("may not be written"));
  EXPECT_TRUE(is_hit(scene_.get("/a"))) << "from the disk";
  EXPECT_TRUE(is_hit(scene_.get("/c"))) << "from memory";
  const Response purge = scene_.ask("PURGE", "/b", {{"X-Hearsay", "1"}});
  EXPECT_EQ(purge.body, "{\"purged\": 1, \"owed\": true}\n");
  faults_.end("read_only");
  EXPECT_TRUE(works());
  const auto stored = static_cast<std::size_t>(scene_.disk("stored_total"));
  fetch("/d");
  scene_.settle(stored + 1);
  scene_.crash();
  EXPECT_TRUE(scene_.holds("/d"));
  EXPECT_FALSE(scene_.holds("/b"));
}

}  // namespace
}  // namespace scenario
