// Large objects that a neighbour holds in part: it claims the part, and ranges are asked of it.
#include <gtest/gtest.h>

#include "tests/scenario/large/large_peer_scene.hpp"

namespace scenario {
namespace {

TEST(LargePart, IsGivenByTheNeighbourThatHoldsIt) {
  LargeScene scene(16 * kMiB);
  const TemporaryDirectory home_b;
  const ProxyProcess b(with_neighbour("a", scene.proxy().port(), home_b / "b"));
  scene.expect_part(scene.get("9000000-"), {9'000'000, 16 * kMiB - 1});
  scene.expect_part(scene.get("1048576-3145727"), {kMiB, 3 * kMiB - 1});
  ASSERT_EQ(scene.origin.count(), 2U);
  ASSERT_TRUE(await([&] { return b.digest_peer("a").at("entries") == 1; }));
  Client client(b.port());
  const auto ask_b = [&](const Span& span) {
    const auto range = std::to_string(span.first) + '-' + std::to_string(span.second);
    const Response part = client.get(scene.origin.url("/a"), {{"Range", "bytes=" + range}});
    scene.expect_part(part, span);
    return part.field("Cache-Status");
  };
  const auto told = ask_b({9'000'000, 16 * kMiB - 1});
  EXPECT_TRUE(contains(told, "peer/a")) << told;
  EXPECT_EQ(scene.origin.count(), 2U) << "the origin is not asked again";
  ask_b({kMiB, 5 * kMiB - 1});
  EXPECT_EQ(scene.asked().back(), "bytes=3145728-5242879") << "for what a lacks alone";
  ask_b({6 * kMiB, 7 * kMiB - 1});
  EXPECT_EQ(scene.origin.count(), 4U);
  const auto books = b.digest_peer("a");
  EXPECT_EQ(books.at("false_hits"), 0) << "it holds other parts";
  EXPECT_EQ(books.at("true_hits"), 2);
  EXPECT_EQ(books.at("failures"), 0);
}

TEST(LargePart, IsGivenWhileTheRestIsStillBeingFetched) {
  LargeScene scene(8 * kMiB);
  Gate gate;
  scene.origin.on("/a", scene.described(Reply(200))
                            .sized(8 * kMiB)
                            .send(pattern(0, 6 * kMiB))
                            .wait(gate)
                            .send(pattern(6 * kMiB, 2 * kMiB))
                            .slow({}, 4 * kMiB));
  const TemporaryDirectory home_b;
  const ProxyProcess b(with_neighbour("a", scene.proxy().port(), home_b / "b"));
  Client first(scene.proxy().port());
  first.send(request_text("GET", scene.origin.url("/a")));
  ASSERT_TRUE(await([&] { return b.digest_peer("a").at("entries") == 1; })) << "it waits";
  const Response part =
      Client(b.port()).get(scene.origin.url("/a"), {{"Range", "bytes=1048576-2097151"}});
  scene.expect_part(part, {kMiB, 2 * kMiB - 1});
  EXPECT_TRUE(contains(part.field("Cache-Status"), "peer/a")) << part.field("Cache-Status");
  EXPECT_EQ(scene.origin.count(), 1U);
  gate.open();
  scene.expect_whole(first.read("GET"));
}

// Nothing of the object is stored here.
TEST(LargePart, IsGivenAsTheBeginningOfAColdObject) {
  LargeScene scene(8 * kMiB);
  const TemporaryDirectory home_b;
  const ProxyProcess b(with_neighbour("a", scene.proxy().port(), home_b / "b"));
  scene.get("1048576-3145727");
  ASSERT_TRUE(await([&] { return b.digest_peer("a").at("entries") == 1; }));
  const auto url = scene.origin.url("/a");
  const Response part = Client(b.port()).get(url, {{"Range", "bytes=1500000-"}});
  scene.expect_part(part, {1'500'000, 8 * kMiB - 1});
  EXPECT_EQ(scene.asked().back(), "bytes=3145728-8388607");
  EXPECT_EQ(b.digest_peer("a").at("false_hits"), 0);
  const Response whole = Client(b.port()).get(url);
  scene.expect_whole(whole);
  EXPECT_EQ(scene.asked().back(), "bytes=0-1048575");
}

}  // namespace
}  // namespace scenario
