// The access log as JSON tells which sources were asked, and how long each took.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/scenario/peers/peer_scene.hpp"
#include "tests/support/temporary_directory.hpp"

namespace scenario {
namespace {

const json kLogsJson{{"log", {{"format", "json"}}}};

// The first `count` lines of the log about /a.
std::vector<json> logged(const PeerScene& scene, std::size_t count) {
  std::vector<json> lines;
  const bool all_there = await([&] {
    lines.clear();
    std::istringstream text(support::read_file(scene.proxy->access_log_path()));
    for (std::string line; std::getline(text, line);) {
      json one = json::parse(line);
      if (one.at("url") == scene.origin.url("/a")) lines.push_back(std::move(one));
    }
    return lines.size() >= count;
  });
  if (!all_there) throw TimedOut("the access log is too short");
  return lines;
}

TEST(AskedLog, ListsTheNeighbourThatWasWrongAndTheOriginThatAnswered) {
  PeerScene scene({"/a"}, kLogsJson);
  scene.peer.on("/a", Reply(504, {{"Cache-Status", "b; fwd=uri-miss; detail=gone"}}).body("no"));
  scene.get("/a");
  scene.get("/a");
  const auto lines = logged(scene, 2);
  const json asked = lines[0].at("asked");
  ASSERT_EQ(asked.size(), 2U) << asked.dump(2);
  EXPECT_EQ(asked[0].at("source"), "b");
  EXPECT_EQ(asked[0].at("result"), "false-hit");
  EXPECT_EQ(asked[0].at("cause"), "gone");
  EXPECT_EQ(asked[1].at("source"), "origin");
  EXPECT_EQ(asked[1].at("result"), "answered");
  for (const auto& one : asked) EXPECT_GT(one.at("first_byte_ms"), 0);
  EXPECT_FALSE(lines[1].contains("asked")) << "nobody was asked for a hit";
}

TEST(AskedLog, ListsTheNeighbourThatAnswered) {
  PeerScene scene({"/a"}, kLogsJson);
  scene.peer.on("/a", cacheable("from the peer"));
  EXPECT_EQ(scene.get("/a").body, "from the peer");
  const json asked = logged(scene, 1)[0].at("asked");
  ASSERT_EQ(asked.size(), 1U) << asked.dump(2);
  EXPECT_EQ(asked[0].at("source"), "b");
  EXPECT_EQ(asked[0].at("result"), "answered");
}

TEST(AskedLog, ListsWhoWasAskedForAResponseThatNobodyHad) {
  PeerScene scene({"/a"}, kLogsJson);
  scene.peer.on("/a", Reply(404).body("no"));
  scene.origin.on("/a", Reply::hang_up());
  EXPECT_EQ(scene.get("/a").status, 502);
  const json asked = logged(scene, 1)[0].at("asked");
  ASSERT_EQ(asked.size(), 2U) << asked.dump(2);
  EXPECT_EQ(asked[0].at("result"), "refused");
  EXPECT_EQ(asked[1].at("source"), "origin");
  EXPECT_EQ(asked[1].at("result"), "cut");
}

TEST(AccessLog, LeavesOutQuestionsOfNeighboursIfTheSettingsSaySo) {
  const ProxyProcess proxy(
      with_peer("b", Listener().port(), json{{"log", {{"site_questions", false}}}}));
  const Fields only_stored{{"Cache-Control", "only-if-cached"}};
  EXPECT_EQ(Client(proxy.port()).get("http://127.0.0.1:9/a", only_stored).status, 504);
  EXPECT_EQ(Client(proxy.port()).get("http://127.0.0.1:9/b").status, 502);
  proxy.logged("http://127.0.0.1:9/b");
  EXPECT_TRUE(support::lines_about("http://127.0.0.1:9/a", proxy.access_log()).empty());
}

}  // namespace
}  // namespace scenario
