// A response that could not be shared is asked for again without a fill. The client sees no
// difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

const Field kForOne{"Cache-Control", "no-store"};

// What a client sees of a response, apart from the time.
std::string seen(Response response, const std::vector<Response>& interim) {
  std::string text = response.start_line + '\n';
  std::sort(response.fields.begin(), response.fields.end());
  for (const auto& [name, value] : response.fields) {
    text += name + ": " + (name == "Date" ? "" : value) + '\n';
  }
  for (const auto& early : interim) text += early.start_line + '\n';
  return text + (response.whole ? "whole: " : "cut: ") + response.body;
}

// One thread, and thus one set of idle connections.
struct OneThread : Scene {
  OneThread() : Scene(json{{"threads", 1}}) {}
};

struct Case {
  const char* name;
  Reply reply;
};

std::vector<Case> replies() {
  const Fields dated{kForOne, {"Date", "Wed, 25 Nov 2026 20:00:00 GMT"}};
  return {
      {"Small", Reply(200, dated).body("hello")},
      {"WithoutDate", unstorable().body("hello")},
      {"Empty", unstorable().body("")},
      {"WithoutABody", Reply(204, dated)},
      {"NotFound", Reply(404, dated).body("no")},
      {"Redirection", Reply(302, dated).with("Location", "/b")},
      {"Error", Reply(500, dated).body("sorry")},
      {"Chunked", Reply(200, dated).chunked().send("hel").send("lo")},
      {"LargerThanABuffer", Reply(200, dated).body(std::string(100'000, 'x'))},
      {"Cut", Reply(200, dated).sized(10).send("hello").cut()},
      {"Aged", Reply(200, {kForOne, {"Date", "Wed, 25 Nov 2099 20:00:00 GMT"}})
                   .with("Age", "100")
                   .body("hello")},
      {"OfAnotherProxy", Reply(200, dated)
                             .with("Via", "1.1 far")
                             .with("Cache-Status", "far; hit; ttl=5")
                             .body("hello")},
      {"WithHopByHopFields", Reply(200, dated)
                                 .with("Connection", "X-Hop, keep-alive")
                                 .with("Keep-Alive", "timeout=5")
                                 .with("X-Hop", "1")
                                 .body("hello")},
      {"WithACookie", Reply(200, dated).with("Set-Cookie", "a=1").with("Set-Cookie", "b=2")},
      {"Private", Reply(200, {{"Cache-Control", "private=\"X-Mine\""}, {"X-Mine", "1"}}).body("a")},
      {"Interim", Reply(200, dated).interim("HTTP/1.1 103 Early Hints", {}).body("hello")},
      {"UnaskedPart", Reply(206, dated).with("Content-Range", "bytes 0-4/9").body("hello")},
      {"Unasked304", Reply(304, dated)},
      {"HangsUp", Reply::hang_up()},
      {"Nonsense", Reply::raw("nonsense\r\n\r\n")},
      {"EndsWithItsConnection",
       Reply::raw("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\n\r\nhello")},
  };
}

TEST(ForOne, IsAnsweredAsAnyOther) {
  OneThread scene;
  int number = 0;
  for (const auto& [name, reply] : replies()) {
    SCOPED_TRACE(name);
    const auto path = '/' + std::to_string(number++);
    const auto ask = [&] {
      scene.origin.on(path, reply);
      Client client(scene.proxy.port());
      auto response = client.get(scene.origin.url(path));
      return seen(std::move(response), client.interim());
    };
    const auto by_a_fill = ask();
    // Marks the URL whatever `reply` is, and leaves an idle connection.
    scene.origin.on(path, unstorable().body("mark"));
    EXPECT_EQ(scene.client.get(scene.origin.url(path)).body, "mark");
    EXPECT_EQ(ask(), by_a_fill);
  }
}

TEST(ForOne, IsStoredAsSoonAsItMayBe) {
  OneThread scene;
  scene.origin.on("/a", unstorable().body("mine"));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).body, "mine");
  scene.origin.on("/a", cacheable("ours"));
  const auto stored = scene.client.get(scene.origin.url("/a"));
  EXPECT_EQ(stored.body, "ours");
  EXPECT_TRUE(contains(stored.field("Cache-Status"), "; stored"));
  EXPECT_TRUE(is_hit(scene.client.get(scene.origin.url("/a"))));
  EXPECT_EQ(scene.origin.count("/a"), 2U);
}

TEST(ForOne, ComparesWhatTheClientHas) {
  OneThread scene;
  scene.origin.on("/a", unstorable().with("ETag", "\"1\"").body("mine"));
  scene.client.get(scene.origin.url("/a"));
  const auto same = scene.client.get(scene.origin.url("/a"), {{"If-None-Match", "\"1\""}});
  EXPECT_EQ(same.status, 304);
  const auto other = scene.client.get(scene.origin.url("/a"), {{"If-None-Match", "\"2\""}});
  EXPECT_EQ(other.body, "mine");
}

TEST(ForOne, IsStoredInSpiteOfCredentialsIfTheOriginSaysSo) {
  OneThread scene;
  const Fields mine{{"Authorization", "Basic eDp5"}};
  scene.origin.on("/a", unstorable().body("mine"));
  scene.client.get(scene.origin.url("/a"), mine);
  scene.origin.on("/a", cacheable("ours", "public, max-age=60"));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a"), mine).body, "ours");
  EXPECT_TRUE(is_hit(scene.client.get(scene.origin.url("/a"))));
}

TEST(ForOne, UsesConnectionsAgain) {
  OneThread scene;
  scene.origin.on("/a", unstorable().body("mine"));
  for (int i = 0; i < 5; ++i) scene.client.get(scene.origin.url("/a"));
  EXPECT_EQ(scene.origin.connections(), 1U);
}

TEST(ForOne, KeepsNoConnectionAndChargesItsBytesWhereTheClientDoesNotRead) {
  OneThread scene;
  const auto url = scene.origin.url("/a");
  scene.origin.on("/a", unstorable().body(std::string(12'000, 'x')));
  scene.client.get(url);
  const auto used = [&] { return scene.proxy.metric("hearsay_memory_used_bytes"); };
  const auto before = used();
  constexpr std::size_t kEach = 3000;
  std::string many;
  for (std::size_t i = 0; i < kEach; ++i) many += request_text("GET", url);
  std::list<Client> crowd;
  for (int i = 0; i < 5; ++i) crowd.emplace_back(scene.proxy.port()).send(many);
  EXPECT_LT(await_halt([&] { return scene.origin.count(); }), 5 * kEach) << "nobody waits";
  EXPECT_GE(used(), before + 5 * 12'000) << "what waits is charged";
  const auto connections = scene.origin.connections();
  Gate gate;
  scene.origin.on("/b", unstorable().wait(gate).body("b"));
  const auto ask = request_text("GET", scene.origin.url("/b"), {{"Authorization", "Basic eDp5"}});
  std::list<Client> others;
  for (std::size_t i = 0; i < connections; ++i) others.emplace_back(scene.proxy.port()).send(ask);
  EXPECT_TRUE(scene.origin.await_requests("/b", connections));
  EXPECT_EQ(scene.origin.connections(), connections) << "all were idle";
  gate.open();
}

TEST(ForOne, WaitsNoLongerThanAnyOther) {
  Scene scene(json{{"threads", 1}, {"timeouts", {{"first_byte", "300ms"}}}});
  scene.origin.on("/a", unstorable().body("mine"));
  scene.client.get(scene.origin.url("/a"));
  scene.origin.on("/a", unstorable().wait(Gate()).body("mine"));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).status, 504);
}

TEST(ForOne, IsLoggedAndCountedAsAnyOther) {
  OneThread scene;
  scene.origin.on("/a", unstorable().with("Content-Type", "text/plain; x=1").body("mine"));
  const auto url = scene.origin.url("/a");
  for (std::size_t times = 1; times <= 2; ++times) {
    scene.client.get(url);
    const auto lines = [&] { return lines_about(url, scene.proxy.access_log()); };
    ASSERT_TRUE(await([&] { return lines().size() == times; }));
    const auto line = lines().back();
    EXPECT_EQ(line.result, "TCP_MISS");
    EXPECT_EQ(line.hierarchy, "HIER_DIRECT");
    EXPECT_EQ(line.from, "127.0.0.1");
    EXPECT_EQ(line.type, "text/plain");
    EXPECT_EQ(line.words, std::vector<std::string>{"not-stored/no-store"});
    EXPECT_EQ(scene.proxy.metric("hearsay_not_stored_total{reason=\"no-store\"}"), times);
  }
}

}  // namespace
}  // namespace scenario
