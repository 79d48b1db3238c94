// A response that could not be shared is asked for again without a fill. The client sees no
// difference.
#include <gtest/gtest.h>

#include <algorithm>

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
      {"Aged", Reply(200, dated).with("Age", "0").body("hello")},
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
  Scene scene;
  int number = 0;
  for (const auto& [name, reply] : replies()) {
    for (const char* method : {"GET", "HEAD"}) {
      SCOPED_TRACE(std::string(name) + ' ' + method);
      const auto path = '/' + std::to_string(number++);
      const auto ask = [&] {
        scene.origin.on(path, reply);
        Client client(scene.proxy.port());
        auto response = client.request(method, scene.origin.url(path));
        return seen(std::move(response), client.interim());
      };
      const auto by_a_fill = ask();
      // Marks the URL, whatever `reply` is.
      scene.origin.on(path, unstorable().body("mark"));
      EXPECT_EQ(scene.client.get(scene.origin.url(path)).body, "mark");
      EXPECT_EQ(ask(), by_a_fill);
    }
  }
}

TEST(ForOne, IsStoredAsSoonAsItMayBe) {
  Scene scene;
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
  Scene scene;
  scene.origin.on("/a", unstorable().with("ETag", "\"1\"").body("mine"));
  scene.client.get(scene.origin.url("/a"));
  const auto same = scene.client.get(scene.origin.url("/a"), {{"If-None-Match", "\"1\""}});
  EXPECT_EQ(same.status, 304);
  const auto other = scene.client.get(scene.origin.url("/a"), {{"If-None-Match", "\"2\""}});
  EXPECT_EQ(other.body, "mine");
}

TEST(ForOne, UsesConnectionsAgain) {
  Scene scene;
  scene.origin.on("/a", unstorable().body("mine"));
  for (int i = 0; i < 5; ++i) scene.client.get(scene.origin.url("/a"));
  EXPECT_EQ(scene.origin.connections(), 1U);
}

TEST(ForOne, WaitsNoLongerThanAnyOther) {
  Scene scene(json{{"timeouts", {{"first_byte", "300ms"}}}});
  scene.origin.on("/a", unstorable().body("mine"));
  scene.client.get(scene.origin.url("/a"));
  scene.origin.on("/a", unstorable().wait(Gate()).body("mine"));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).status, 504);
}

TEST(ForOne, IsLoggedAndCountedAsAnyOther) {
  Scene scene;
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
