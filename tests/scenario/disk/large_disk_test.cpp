// Large bodies while the disk hangs, or holds a block that it cannot read.
#include "tests/scenario/disk/failing_disk.hpp"
#include "tests/scenario/large/large_scene.hpp"

namespace scenario {
namespace {

TEST(LargeDisk, ThatRestsHoldsNoBodyUp) {
  DiskFaults faults;
  LargeScene scene(20 * kMiB);
  scene.origin.on("/b", [&](const Request&) { return scene.whole(); });
  faults.begin("writes_hang");
  scene.expect_whole(scene.get());  // has more bytes than may wait to be written
  ASSERT_TRUE(await([&] { return scene.health().at("state") == "resting"; }));
  const auto begun = std::chrono::steady_clock::now();
  scene.expect_whole(scene.DiskScene::get("/b"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, allowed(std::chrono::seconds(4)));
  faults.end("writes_hang");
}

// The index does not yet know of a purge by prefix that waits for the disk.
TEST(LargeDisk, ThatHoldsABlockButDoesNotGiveItIsPassedBy) {
  DiskFaults faults;
  LargeScene scene(24 * kMiB, "16MiB");
  scene.get();
  scene.settle(25);
  scene.restart();
  Client client(scene.proxy().port());
  client.send(request_text("GET", scene.origin.url("/a")));
  Response whole = client.read_head();
  EXPECT_TRUE(is_hit(whole));
  faults.begin("writes_hang");
  Client purging(scene.proxy().port());
  const auto order = json{{"prefix", scene.origin.url("/")}}.dump();
  const auto page = "http://" + scene.proxy().address() + "/admin/purge";
  purging.send(request_text("POST", page, kOnPurpose, order));
  EXPECT_TRUE(await([&] { return !scene.holds("/a"); }));
  client.read_rest(whole);
  scene.expect_whole(whole);
  EXPECT_GT(scene.origin.count(), 1U);
  faults.end("writes_hang");
  EXPECT_EQ(purging.read("POST").status, 200);
}

}  // namespace
}  // namespace scenario
