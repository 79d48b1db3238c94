// Requests with no-cache at once: each is answered by what the origin says after the request's
// arrival (RFC 9111 section 5.2.1.4), and one validation says it to all that arrived before it
// began.
#include <gtest/gtest.h>

#include "tests/scenario/caching/ways.hpp"

namespace scenario {
namespace {

const Fields kNoCache{{"Cache-Control", "no-cache"}};

// A proxy of one thread: what it has received is read before what it receives later.
struct Reloads : WayStage {
  explicit Reloads(const WayThrough& way) : WayStage(way, json{{"threads", 1}}) {
    origin.on("/a", answer("old"));
    EXPECT_EQ(get("/a").body, "old");
  }
  static Reply answer(const std::string& body) { return answer(body, opened()); }
  // The head waits for the gate.
  static Reply answer(const std::string& body, Gate gate) {
    const Fields fields{{"Cache-Control", "max-age=3600"}, {"ETag", '"' + body + '"'}};
    return Reply(200, fields).wait(std::move(gate)).body(body);
  }
  static Gate opened() {
    Gate gate;
    gate.open();
    return gate;
  }
  std::unique_ptr<Client> ask(const Fields& fields = kNoCache) const {
    auto asker = std::make_unique<Client>(proxy->port());
    asker->send(request("/a", fields));
    return asker;
  }
  // Waits until the proxy has read what was sent.
  void let_it_read() const {
    for (int i = 0; i < 3; ++i) proxy->page("/health");
  }
};

class CollapsedValidations : public testing::TestWithParam<WayThrough> {};
INSTANTIATE_TEST_SUITE_P(Ways, CollapsedValidations, testing::ValuesIn(kWays),
                         [](const auto& way) { return way.param.name; });

TEST_P(CollapsedValidations, OneServesAllThatArrivedBeforeItBegan) {
  Reloads stage(GetParam());
  Gate first, second;
  stage.origin.on("/a", Reloads::answer("while others arrive", first));
  const auto early = stage.ask();
  ASSERT_TRUE(stage.origin.await_requests("/a", 2));
  std::vector<std::unique_ptr<Client>> others;
  for (int i = 0; i < 19; ++i) others.push_back(stage.ask());
  stage.let_it_read();
  EXPECT_EQ(stage.origin.count("/a"), 2U) << "they wait";
  stage.origin.on("/a", Reloads::answer("after that", second));
  first.open();
  EXPECT_EQ(early->read().body, "while others arrive");
  ASSERT_TRUE(stage.origin.await_requests("/a", 3));
  second.open();
  std::size_t collapsed = 0;
  for (const auto& other : others) {
    const Response answer = other->read();
    EXPECT_EQ(answer.body, "after that") << "what was asked for before its arrival is too old";
    collapsed += contains(nearest_cache_status(answer), "; collapsed");
  }
  EXPECT_EQ(collapsed, 18U);
  EXPECT_EQ(stage.origin.count("/a"), 3U);
  EXPECT_EQ(stage.origin.requests("/a").at(2).field("If-None-Match"), "\"while others arrive\"");
}

TEST_P(CollapsedValidations, A304ServesThemToo) {
  Reloads stage(GetParam());
  Gate gate;
  stage.origin.on("/a",
                  Reply(304, {{"Cache-Control", "max-age=60"}, {"ETag", "\"old\""}}).wait(gate));
  const auto early = stage.ask();
  ASSERT_TRUE(stage.origin.await_requests("/a", 2));
  std::vector<std::unique_ptr<Client>> others;
  for (int i = 0; i < 5; ++i) others.push_back(stage.ask());
  stage.let_it_read();
  gate.open();
  EXPECT_EQ(early->read().body, "old");
  for (const auto& other : others) EXPECT_EQ(other->read().body, "old");
  EXPECT_EQ(stage.origin.count("/a"), 3U);
}

// A cache on the way may have answered a request that did not forbid it.
TEST_P(CollapsedValidations, AreNotServedByWhatAnotherKindOfRequestAskedFor) {
  Reloads stage(GetParam());
  Gate gate;
  stage.origin.on("/b", Reloads::answer("for anybody", gate));
  Client plain(stage.proxy->port());
  plain.send(stage.request("/b"));
  ASSERT_TRUE(stage.origin.await_requests("/b", 1));
  Client reload(stage.proxy->port());
  reload.send(stage.request("/b", kNoCache));
  stage.let_it_read();
  stage.origin.on("/b", Reloads::answer("anew"));
  gate.open();
  EXPECT_EQ(plain.read().body, "for anybody");
  EXPECT_EQ(reload.read().body, "anew");
}

TEST(CollapsedValidations, GiveEachItsOwnWhereTheAnswerIsForOne) {
  Reloads stage(kWays[0]);
  Gate gate;
  stage.origin.on("/a", Reply(200, {{"Cache-Control", "private"}}).wait(gate).body("mine"));
  std::vector<std::unique_ptr<Client>> askers;
  for (int i = 0; i < 4; ++i) askers.push_back(stage.ask());
  ASSERT_TRUE(stage.origin.await_requests("/a", 2));
  stage.let_it_read();
  gate.open();
  for (const auto& asker : askers) EXPECT_EQ(asker->read().body, "mine");
  EXPECT_EQ(stage.origin.count("/a"), 5U);
}

TEST(CollapsedValidations, LetAFailureReachWhoWaitedForIt) {
  Reloads stage(kWays[0]);
  Gate gate;
  stage.origin.on("/a", [gate](const Request&) {
    gate.wait({});
    return Reply::hang_up();
  });
  const auto early = stage.ask();
  ASSERT_TRUE(stage.origin.await_requests("/a", 2));
  const auto other = stage.ask();
  stage.let_it_read();
  stage.origin.on("/a", Reply::hang_up());
  gate.open();
  for (auto* const asker : {early.get(), other.get()}) EXPECT_EQ(asker->read().status, 502);
}

}  // namespace
}  // namespace scenario
