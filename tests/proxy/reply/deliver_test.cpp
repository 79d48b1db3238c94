#include "proxy/reply/deliver.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/client/serve_scene.hpp"
#include "tests/proxy/fill/fill_scene.hpp"

namespace proxy::reply {
namespace {

using namespace std::chrono_literals;
using http::Forward;

const std::string kFilled = "http://a.test/x";

// A fill whose writer is the test, and one reader of it.
struct DeliverScene : client::ServeScene {
  explicit DeliverScene(config::Settings told = client::quiet_settings())
      : client::ServeScene(std::move(told)) {}
  ~DeliverScene() { io.end_coroutines(); }

  [[nodiscard]] fill::FillHead head_of(std::optional<std::uint64_t> length,
                                       fill::Provenance from = {}, const std::string& lines = "") {
    return {entry_of({.url = kFilled, .lines = "Cache-Control: max-age=100\r\n" + lines}), length,
            true, "", std::move(from)};
  }
  void append(std::string_view text) { fill::append_block(*fill, budget, text); }
  // Begins to send the response. It ends once the writer has ended, or the client has left.
  void start(const std::string& lines = "", Forward reason = Forward::uri_miss,
             const std::string& method = "GET") {
    request.emplace(*this, lines, method + " " + kFilled + " HTTP/1.1");
    response.begin(method == "HEAD");
    net::spawn(io.get_executor(), deliver_it(reason), [this](std::exception_ptr) { done = true; });
    settle();
  }
  net::Task<void> deliver_it(Forward reason) {
    const auto head = co_await reader->head();
    delivered = co_await deliver(client, **request, *reader, {**head, reason, OnOutdated::refuse});
  }

  std::shared_ptr<fill::Fill> fill =
      std::make_shared<fill::Fill>(kFilled, fill::FillPlace{io.get_executor(), &clock});
  std::unique_ptr<fill::FillReader> reader = fill::FillReader::attach(fill, io.get_executor());
  std::optional<client::SceneRequest> request;
  std::optional<Delivered> delivered;
  bool done = false;
};

// The answer of a source, with what `more` changes.
fill::Provenance answered(std::optional<unsigned> status = 200,
                          void (*more)(fill::Provenance&) = nullptr) {
  fill::Provenance from;
  from.fwd_status = status;
  if (more) more(from);
  return from;
}

void is_stored(fill::Provenance& from) {
  from.stored = true;
}
void is_validated(fill::Provenance& from) {
  from.validated = true;
}
void stands_in(fill::Provenance& from) {
  from.stood_in = 0s;
}
void is_aged(fill::Provenance& from) {
  from.aged = true;
}
void is_not_stored(fill::Provenance& from) {
  from.storability = cache::Storability::no_store;
}
void is_after_a_false_hit(fill::Provenance& from) {
  from.inquiries.detail = "false-hit/b";
}
void is_siblings(fill::Provenance& from) {
  from.source = cache::SourceKind::sibling;
  from.peer = "b";
  from.hierarchy = observe::Hierarchy::sibling;
}
void is_parents(fill::Provenance& from) {
  from.peer = "p";
  from.hierarchy = observe::Hierarchy::parent;
}

TEST(Deliver, SendsTheBytesAsTheyArrive) {
  DeliverScene scene;
  scene.fill->publish(scene.head_of(6));
  scene.append("ab");
  scene.start();
  EXPECT_EQ(scene.response.content(), "ab");
  EXPECT_EQ(scene.response.length(), 6U);
  for (const auto* part : {"cd", "ef"}) {
    EXPECT_FALSE(scene.state.finished);
    scene.append(part);
    scene.settle();
  }
  scene.fill->finish();
  scene.settle();
  EXPECT_EQ(scene.response.content(), "abcdef");
  EXPECT_TRUE(scene.state.finished);
  EXPECT_EQ(scene.delivered, Delivered::sent);
}

TEST(Deliver, AReaderThatJoinsLateGetsTheSameBytes) {
  DeliverScene scene;
  const auto first = fill::FillReader::attach(scene.fill, scene.io.get_executor());
  scene.fill->publish(scene.head_of({}));
  scene.append("one ");
  EXPECT_EQ(fill::text_of(first->at_hand()), "one ");
  scene.append("two");
  scene.start();
  scene.fill->finish();
  scene.settle();
  EXPECT_EQ(scene.response.content(), "one two");
  EXPECT_EQ(scene.response.length(), std::nullopt);
  EXPECT_TRUE(scene.state.finished);
}

struct EndCase {
  const char* name;
  upstream::Failure failure;
  std::string word;
  cache::Storability storability;
};

TEST(Deliver, CutsTheResponseWhoseSourceFails) {
  using Where = upstream::Failure::Where;
  using What = upstream::Failure::What;
  using cache::Storability;
  for (const EndCase& c :
       {EndCase{"cut", {Where::upstream, What::cut, {}}, "cut", Storability::incomplete},
        EndCase{
            "silent", {Where::upstream, What::timed_out, {}}, "timed-out", Storability::incomplete},
        EndCase{"left behind", {Where::us, What::overload, {}}, "overload", Storability::yes}}) {
    DeliverScene scene;
    scene.fill->publish(scene.head_of(10));
    scene.append("half");
    scene.start();
    scene.fill->fail(c.failure);
    scene.settle();
    EXPECT_TRUE(scene.done) << c.name;
    EXPECT_EQ(scene.response.content(), "half") << c.name;
    EXPECT_TRUE(scene.response.aborted()) << c.name;
    EXPECT_FALSE(scene.state.finished) << c.name;
    EXPECT_EQ(scene.record.failure, c.word) << c.name;
    EXPECT_EQ(scene.record.storability, c.storability) << c.name;
  }
}

TEST(Deliver, EndsForAClientThatLeaves) {
  for (const std::uint64_t leaves : {0, 2}) {
    DeliverScene scene;
    scene.response.client_leaves_after(leaves);
    scene.fill->publish(scene.head_of(4));
    scene.append("ab");
    scene.start();
    scene.append("cd");
    scene.settle();
    EXPECT_TRUE(scene.done);
    EXPECT_TRUE(scene.response.aborted());
    EXPECT_FALSE(scene.state.finished);
  }
}

TEST(Deliver, TellsWhyABodyWasNotStoredAfterAll) {
  DeliverScene scene;
  scene.fill->publish(scene.head_of(2, answered(200, is_stored)));
  scene.append("ab");
  scene.start();
  scene.fill->finish(cache::Storability::no_room);
  scene.settle();
  EXPECT_EQ(scene.record.storability, cache::Storability::no_room);
}

struct ShortCase {
  const char* name;
  std::string lines;
  std::string method;
  unsigned status;
};

TEST(Deliver, WaitsForNoBodyThatTheClientDoesNotGet) {
  for (const ShortCase& c :
       {ShortCase{"head", "", "HEAD", 200},
        ShortCase{"known", "If-None-Match: \"v1\"\r\n", "GET", 304},
        ShortCase{"head of what is known", "If-None-Match: \"v1\"\r\n", "HEAD", 304}}) {
    DeliverScene scene;
    scene.fill->publish(scene.head_of(10, {}, "ETag: \"v1\"\r\n"));
    scene.start(c.lines, Forward::uri_miss, c.method);
    EXPECT_TRUE(scene.done) << c.name;
    EXPECT_EQ(scene.response.status(), c.status) << c.name;
    EXPECT_EQ(scene.response.content(), "") << c.name;
    EXPECT_TRUE(scene.state.finished) << c.name;
  }
}

// What a response says of its source.
struct SourceCase {
  const char* name;
  fill::Provenance from;
  Forward reason;
  std::string cache_status;
  observe::Tag tag;
  bool has_age;
};
class ASource : public testing::TestWithParam<SourceCase> {};

TEST_P(ASource, IsToldToTheClientAndTheLog) {
  const auto& c = GetParam();
  DeliverScene scene;
  auto from = c.from;
  from.host = "b.test";
  scene.fill->publish(scene.head_of(0, from));
  scene.fill->finish();
  scene.start("", c.reason);
  ASSERT_TRUE(scene.done);
  EXPECT_EQ(scene.response.field("Cache-Status"), c.cache_status);
  EXPECT_EQ(scene.record.tag, c.tag);
  EXPECT_EQ(scene.record.hierarchy, from.hierarchy);
  EXPECT_EQ(scene.record.upstream_host, "b.test");
  EXPECT_EQ(scene.response.field("Age"), c.has_age ? "0" : "");
}

INSTANTIATE_TEST_SUITE_P(
    Sources, ASource,
    testing::Values(
        SourceCase{"Origin", answered(), Forward::uri_miss, "cache-a; fwd=uri-miss; fwd-status=200",
                   observe::Tag::miss, false},
        SourceCase{"Stored", answered(200, is_stored), Forward::uri_miss,
                   "cache-a; fwd=uri-miss; fwd-status=200; ttl=100; stored", observe::Tag::miss,
                   false},
        SourceCase{"NotStored", answered(200, is_not_stored), Forward::uri_miss,
                   "cache-a; fwd=uri-miss; fwd-status=200; detail=\"not-stored/no-store\"",
                   observe::Tag::miss, false},
        SourceCase{"AnotherVariant", answered(), Forward::vary_miss,
                   "cache-a; fwd=vary-miss; fwd-status=200", observe::Tag::miss, false},
        SourceCase{"Reloaded", answered(), Forward::request, "cache-a; fwd=request; fwd-status=200",
                   observe::Tag::client_refresh, false},
        SourceCase{"Replaced", answered(), Forward::stale, "cache-a; fwd=stale; fwd-status=200",
                   observe::Tag::refresh_modified, false},
        SourceCase{"Validated", answered(304, is_validated), Forward::stale,
                   "cache-a; fwd=stale; fwd-status=304; ttl=100", observe::Tag::refresh_unmodified,
                   true},
        SourceCase{"StandsIn", answered(503, stands_in), Forward::stale,
                   "cache-a; fwd=stale; fwd-status=503; ttl=100", observe::Tag::stale_hit, true},
        SourceCase{"CacheOnTheWay", answered(200, is_aged), Forward::uri_miss,
                   "cache-a; fwd=uri-miss; fwd-status=200", observe::Tag::miss, true},
        SourceCase{"Sibling", answered({}, is_siblings), Forward::uri_miss,
                   "cache-a; fwd=uri-miss; detail=\"peer/b\"", observe::Tag::miss, true},
        SourceCase{"Parent", answered(200, is_parents), Forward::uri_miss,
                   "cache-a; fwd=uri-miss; fwd-status=200; detail=\"parent/p\"", observe::Tag::miss,
                   false},
        SourceCase{"AfterAFalseHit", answered(200, is_after_a_false_hit), Forward::uri_miss,
                   "cache-a; fwd=uri-miss; fwd-status=200; detail=\"false-hit/b\"",
                   observe::Tag::miss, false}),
    [](const auto& tested) { return tested.param.name; });

TEST(Deliver, SaysThatAResponseIsCollapsedIfTheRecordDoes) {
  DeliverScene scene;
  scene.record.collapsed = true;
  scene.fill->publish(scene.head_of(0, answered()));
  scene.fill->finish();
  scene.start();
  EXPECT_EQ(scene.response.field("Cache-Status"),
            "cache-a; fwd=uri-miss; fwd-status=200; collapsed");
}

TEST(Deliver, SendsAStoredEntryWithoutItsFill) {
  for (const auto& [lines, status, content] :
       {std::tuple{"", 200U, "held"}, std::tuple{"Range: bytes=1-2\r\n", 206U, "el"}}) {
    DeliverScene scene;
    fill::FillHead head = scene.head_of(4, answered(304, is_validated));
    head.entry = scene.entry_of({.url = kFilled}, "held");
    scene.fill->publish(head);
    scene.start(lines, Forward::stale);
    EXPECT_TRUE(scene.done) << "though the fill has not ended";
    EXPECT_EQ(scene.response.status(), status);
    EXPECT_EQ(scene.response.content(), content);
  }
}

TEST(DeliverStored, SaysHowStaleAStandInIs) {
  DeliverScene scene;
  const client::SceneRequest request(scene, "");
  scene.clock.pass(130s);
  fill::FillHead head{scene.entry_of({.url = kFilled}, "held"), 4, false, "",
                      answered({}, stands_in)};
  head.provenance.inquiries.detail = "stale-if-error/503";
  scene.run(serve_filled(scene.client, *request, {head, Forward::stale}));
  EXPECT_EQ(scene.response.content(), "held");
  EXPECT_EQ(scene.response.field("Age"), "130");
  EXPECT_EQ(scene.response.field("Cache-Status"),
            "cache-a; fwd=stale; ttl=-30; detail=\"stale-if-error/503\"");
  EXPECT_EQ(scene.record.tag, observe::Tag::stale_hit);
}

}  // namespace
}  // namespace proxy::reply
