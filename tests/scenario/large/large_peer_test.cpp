// Parts of large objects that a neighbour claims. The proxy asks the neighbour first, and the
// origin where the neighbour does not deliver.
#include <gtest/gtest.h>

#include <thread>

#include "tests/scenario/large/large_peer_scene.hpp"

namespace scenario {
namespace {

// A part that is cut after so many bytes.
Reply cut_after(const LargeScene& scene, const Span& span, std::uint64_t bytes) {
  const auto text = "bytes " + std::to_string(span.first) + '-' + std::to_string(span.second) +
                    '/' + std::to_string(scene.size);
  return scene.described(Reply(206, {{"Content-Range", text}}))
      .sized(span.second - span.first + 1)
      .send(pattern(span.first, bytes))
      .cut();
}

TEST(LargePeer, ARangeOfAColdObjectIsAskedOfItsClaimant) {
  LargePeer scene(20 * kMiB);
  const Response part = scene.ask_for("3000000-5000000");
  scene.expect_part(part, {3'000'000, 5'000'000});
  EXPECT_TRUE(contains(part.field("Cache-Status"), "peer/p")) << part.field("Cache-Status");
  EXPECT_EQ(scene.asked_of_peer(), std::vector<std::string>{"bytes=2097152-5242879"});
  EXPECT_TRUE(contains(scene.peer.requests("/a")[0].field("Cache-Control"), "only-if-cached"));
  EXPECT_EQ(scene.books().at("true_hits"), 1);
  EXPECT_EQ(scene.books().at("bytes_saved"), 3 * kMiB);
  EXPECT_TRUE(is_hit(scene.ask_for("2097152-5242879")));
  EXPECT_EQ(scene.origin.count(), 0U);
}

TEST(LargePeer, MissingBlocksAreAskedOfTheirClaimant) {
  LargePeer scene(20 * kMiB);
  scene.hold("0-1048575");
  const Response part = scene.ask_for("500000-5000000");
  scene.expect_part(part, {500'000, 5'000'000});
  const Response more = scene.ask_for("6000000-7000000");
  scene.expect_part(more, {6'000'000, 7'000'000});
  EXPECT_TRUE(contains(more.field("Cache-Status"), "fwd=partial"));
  EXPECT_TRUE(contains(more.field("Cache-Status"), "peer/p")) << more.field("Cache-Status");
  const auto asked = scene.peer.requests("/a");
  ASSERT_EQ(scene.asked_of_peer(),
            (std::vector<std::string>{"bytes=1048576-5242879", "bytes=5242880-7340031"}));
  EXPECT_EQ(asked[0].field("If-Range"), "\"v1\"");
  EXPECT_TRUE(contains(asked[0].field("Cache-Control"), "only-if-cached"));
  EXPECT_EQ(scene.origin.count(), 1U);
  EXPECT_EQ(scene.books().at("true_hits"), 2);
  EXPECT_EQ(scene.books().at("bytes_saved"), 6 * kMiB);
}

TEST(LargePeer, ALittlePartIsTakenOnceItIsWhole) {
  LargePeer scene(20 * kMiB);
  scene.expect_part(scene.ask_for("5-99"), {5, 99});
  EXPECT_EQ(scene.asked_of_peer(), std::vector<std::string>{"bytes=5-99"});
  EXPECT_EQ(scene.origin.count(), 0U);
  scene.peer.on("/a", cut_after(scene, {1200, 1399}, 50));
  scene.expect_part(scene.ask_for("1200-1399"), {1200, 1399});
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(LargePeer, BlocksThatItLacksAreAskedOfTheOriginAndCounted) {
  LargePeer scene(20 * kMiB);
  scene.hold("0-1048575");
  scene.peer.on("/a", Reply(504));
  scene.expect_part(scene.ask_for("2000000-5000000"), {2'000'000, 5'000'000});
  EXPECT_EQ(scene.books().at("false_hits"), 1);
  EXPECT_EQ(scene.books().at("state"), "usable");
  EXPECT_EQ(scene.origin.count(), 2U);
}

// The request whose blocks were asked for tells what came of it.
TEST(LargePeer, ItsFalseHitForBlocksIsTold) {
  LargePeer scene(20 * kMiB);
  scene.hold("0-1048575");
  scene.peer.on("/a", Reply(504, {{"Cache-Status", "p; fwd=uri-miss; detail=gone"}}));
  const Response part = scene.ask_for("2000000-5000000");
  scene.expect_part(part, {2'000'000, 5'000'000});
  const auto told = part.field("Cache-Status");
  EXPECT_TRUE(contains(told, "detail=\"false-hit/p because/gone\"")) << told;
  EXPECT_EQ(scene.books().at("false_hit_causes").at("gone"), 1);
}

// RFC 9110 15.5.17: it knows a length, and so holds the response.
TEST(LargePeer, ARangeBehindItsEndSaysNothingAgainstItsClaim) {
  LargePeer scene(20 * kMiB);
  scene.peer.on("/a", Reply(416, {{"Content-Range", "bytes */100"}}));
  const Response part = scene.ask_for("3145728-5242879");
  scene.expect_part(part, {3'145'728, 5'242'879});
  EXPECT_EQ(scene.peer.count("/a"), 1U);
  EXPECT_TRUE(contains(part.field("Cache-Status"), "detail=\"unusable/p\""));
  EXPECT_EQ(scene.books().at("false_hits"), 0);
  EXPECT_EQ(scene.books().at("failures"), 0);
}

TEST(LargePeer, BlocksOfOneVersionBehindItsEndTellOfAnother) {
  LargePeer scene(20 * kMiB);
  scene.hold("0-1048575");
  scene.peer.on("/a", Reply(416, {{"Content-Range", "bytes */100"}}));
  const Response part = scene.ask_for("2000000-5000000");
  scene.expect_part(part, {2'000'000, 5'000'000});
  EXPECT_EQ(scene.peer.count("/a"), 1U);
  EXPECT_TRUE(contains(part.field("Cache-Status"), "detail=\"unusable/p\""));
  EXPECT_EQ(scene.books().at("false_hits"), 1);
}

TEST(LargePeer, AnotherVersionOfItIsNotJoined) {
  LargePeer scene(20 * kMiB);
  scene.hold("0-1048575");
  const auto mixed = [&](const Request&) {  // whatever the condition says
    return Reply(206, {{"Content-Range", "bytes 1048576-5242879/20971520"}, {"ETag", "\"v2\""}})
        .with("Cache-Control", "max-age=3600")
        .body(pattern(kMiB, 4 * kMiB, 2));
  };
  scene.peer.on("/a", mixed);
  scene.expect_part(scene.ask_for("500000-5000000"), {500'000, 5'000'000});
  EXPECT_EQ(scene.peer.count("/a"), 1U);
  EXPECT_EQ(scene.origin.count(), 2U);
  EXPECT_EQ(scene.books().at("true_hits"), 0);
}

// The neighbour holds the version that was asked for, so its claim was true.
TEST(LargePeer, AnAnswerWithOtherBytesOfTheVersionSaysNothingAgainstItsClaim) {
  for (const bool whole : {true, false}) {
    LargePeer scene(6 * kMiB);
    scene.hold("0-1048575");
    scene.peer.on("/a", [&](const Request&) {
      return whole ? scene.whole() : scene.part({2'097'152, 3'145'727});
    });
    const Response part = scene.ask_for("2000000-5000000");
    scene.expect_part(part, {2'000'000, 5'000'000});
    EXPECT_EQ(scene.peer.count("/a"), 1U);
    const auto told = part.field("Cache-Status");
    EXPECT_TRUE(contains(told, "detail=\"unusable/p\"")) << told;
    EXPECT_EQ(scene.books().at("false_hits"), 0) << whole;
  }
}

TEST(LargePeer, OfWhatItMayNotHandOnNothingIsTaken) {
  for (const char* control : {"private", "no-store", "max-age=0"}) {
    LargePeer scene(20 * kMiB);
    scene.hold("0-1048575");
    scene.peer.on("/a", [&](const Request& request) {
      scene.cache_control = control;
      Reply reply = scene.answer(request);
      scene.cache_control = "max-age=3600";
      return reply;
    });
    scene.expect_part(scene.ask_for("500000-5000000"), {500'000, 5'000'000});
    EXPECT_EQ(scene.peer.count("/a"), 1U);
    EXPECT_EQ(scene.origin.count(), 2U);
    EXPECT_EQ(scene.books().at("true_hits"), 0);
    EXPECT_TRUE(is_hit(scene.ask_for("0-100"))) << "it does not speak for the origin";
  }
}

// The object is the origin's; some of its blocks are the neighbour's.
TEST(LargePeer, ThatLiesLosesTheBlocksThatItGave) {
  LargePeer scene(20 * kMiB, {{"digest", {{"check_sample", 1}}}});
  const auto other = scene.origin.url("/b");
  scene.peer.on(kDigestPath, digest_reply(digest_claiming({scene.origin.url("/a"), other})));
  ASSERT_TRUE(await([&] { return scene.books().at("entries") == 2; }));
  scene.origin.on("/b", scene.described(Reply(200)).body("the truth"));
  scene.peer.on("/b", scene.described(Reply(200)).body("a lie of another length"));
  scene.hold("0-1048575");
  scene.expect_part(scene.ask_for("1048576-3145727"), {kMiB, 3 * kMiB - 1});
  EXPECT_EQ(scene.origin.count("/a"), 1U);
  Client(scene.asking->port()).get(other);
  EXPECT_TRUE(await([&] { return scene.books().at("contradictions") == 1; }));
  const auto& process = scene.asking->process();
  EXPECT_TRUE(await(
      [&] { return contains(process.errors(), "unconfirmed responses of it were dropped"); }));
  EXPECT_TRUE(is_hit(scene.ask_for("0-1048575"))) << "the origin gave this block";
  scene.expect_part(scene.ask_for("1048576-3145727"), {kMiB, 3 * kMiB - 1});
  EXPECT_EQ(scene.origin.count("/a"), 2U);
  EXPECT_EQ(scene.peer.count("/a"), 1U) << "it rests";
}

// How a neighbour fails to deliver the range that it is asked for.
struct Broken {
  const char* name;
  bool cold;
  Reply (*reply)(const LargeScene&, const Span&);
};

void PrintTo(const Broken& test, std::ostream* out) {
  *out << test.name;
}

class BrokenPeer : public testing::TestWithParam<Broken> {};

TEST_P(BrokenPeer, IsReplacedUnseenInTheMiddleOfABody) {
  LargePeer scene(20 * kMiB);
  if (!GetParam().cold) scene.hold("0-1048575");
  scene.peer.on("/a", [&](const Request& request) {
    return GetParam().reply(scene, scene.span_of(request.field("Range")));
  });
  const auto begun = std::chrono::steady_clock::now();
  scene.expect_part(scene.ask_for("1048576-6291455"), {kMiB, 6 * kMiB - 1});
  EXPECT_LT(std::chrono::steady_clock::now() - begun, allowed(std::chrono::seconds(3)));
  EXPECT_EQ(scene.peer.count("/a"), 1U) << "it rests";
  EXPECT_EQ(scene.books().at("true_hits"), 0);
  EXPECT_GE(scene.books().at("failures"), 1);
  EXPECT_TRUE(is_hit(scene.ask_for("1048576-6291455")));
}

constexpr auto kCutWithin = [](const LargeScene& scene, const Span& span) {
  return cut_after(scene, span, 2'500'000);
};
constexpr auto kCutBetween = [](const LargeScene& scene, const Span& span) {
  return cut_after(scene, span, 2 * kMiB);
};
constexpr auto kCutAtOnce = [](const LargeScene& scene, const Span& span) {
  return cut_after(scene, span, 0);
};
constexpr auto kHangsUp = [](const LargeScene&, const Span&) { return Reply::hang_up(); };

INSTANTIATE_TEST_SUITE_P(LargePeer, BrokenPeer,
                         testing::Values(Broken{"ColdAndCutWithinABlock", true, kCutWithin},
                                         Broken{"ColdAndCutBetweenTwo", true, kCutBetween},
                                         Broken{"ColdAndCutAtOnce", true, kCutAtOnce},
                                         Broken{"ColdAndHangsUp", true, kHangsUp},
                                         Broken{"CutWithinABlock", false, kCutWithin},
                                         Broken{"CutBetweenTwo", false, kCutBetween},
                                         Broken{"CutAtOnce", false, kCutAtOnce},
                                         Broken{"HangsUp", false, kHangsUp}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(LargePeer, ABodyOfUnknownLengthKeepsItsHeadWhereTheOriginBringsTheRest) {
  LargePeer scene(8 * kMiB);
  scene.peer.on("/a", [&](const Request&) {
    return scene.described(Reply(200)).chunked().send(pattern(0, 6 * kMiB)).cut();
  });
  scene.origin.on("/a", [&](const Request& request) {
    if (request.field("Range").empty()) return scene.whole();
    const Span span = scene.span_of(request.field("Range"));  // to the end
    const auto text = "bytes " + std::to_string(span.first) + '-' + std::to_string(span.second) +
                      '/' + std::to_string(scene.size);
    return Reply(206, {{"Content-Range", text}, {"ETag", scene.etag}})
        .with("Cache-Control", scene.cache_control)
        .body(pattern(span.first, span.second - span.first + 1));
  });
  for (int time = 0; time < 2; ++time) {
    const auto response = scene.ask_for("");
    EXPECT_TRUE(response.whole && response.body == pattern(0, scene.size));
    EXPECT_EQ(response.field("Content-Type"), "x/y");
  }
  EXPECT_EQ(scene.origin.count("/a"), 2U);
}

TEST(LargePeer, ABodyOfUnknownLengthIsKeptInBlocks) {
  LargePeer scene(16 * kMiB, {{"cache", {{"memory", "16MiB"}}}});
  scene.peer.on("/a", scene.described(Reply(200)).chunked().send(pattern(0, scene.size)));
  const auto response = scene.ask_for("");
  EXPECT_TRUE(response.whole && response.body == pattern(0, scene.size));
  EXPECT_TRUE(await([&] { return scene.books().at("true_hits") == 1; }));
  scene.expect_whole(scene.ask_for("", {{"Cache-Control", "only-if-cached"}}));
  EXPECT_EQ(scene.origin.count(), 0U);
}

TEST(LargePeer, OneThatStallsCostsItsTimeLimitAlone) {
  for (const bool cold : {true, false}) {
    LargePeer scene(20 * kMiB, {{"timeouts", {{"peer_first_byte", "300ms"}}}});
    if (!cold) scene.hold("0-1048575");
    scene.peer.on("/a", Reply(206).wait(Gate()));
    const auto begun = std::chrono::steady_clock::now();
    scene.expect_part(scene.ask_for("1048576-6291455"), {kMiB, 6 * kMiB - 1});
    EXPECT_LT(std::chrono::steady_clock::now() - begun, allowed(std::chrono::seconds(2)));
  }
}

TEST(LargePeer, APurgedObjectIsNotAskedOfIt) {
  LargePeer scene(20 * kMiB);
  Client(scene.asking->port()).request("PURGE", scene.origin.url("/a"), kOnPurpose);
  scene.expect_part(scene.ask_for("3000000-5000000"), {3'000'000, 5'000'000});
  scene.expect_part(scene.ask_for("6000000-7000000"), {6'000'000, 7'000'000});
  EXPECT_EQ(scene.peer.count("/a"), 0U);
}

TEST(LargePeer, ThatIsAHearsayGivesTheRangesOfAWhole) {
  LargeScene scene(20 * kMiB);
  const TemporaryDirectory home_b;
  const ProxyProcess b(with_neighbour("a", scene.proxy().port(), home_b / "b"));
  scene.get();
  ASSERT_TRUE(await([&] { return b.digest_peer("a").at("entries") == 1; }));
  Client client(b.port());
  // A block is given up, and its answer not counted, if its readers leave before half of it has
  // come. So each span ends in the second half of a block.
  for (const Span& span :
       {Span{3'000'000, 5'000'000}, Span{4'000'000, 9'000'000}, Span{7, 999'999}}) {
    const auto range = std::to_string(span.first) + '-' + std::to_string(span.second);
    const Response part = client.get(scene.origin.url("/a"), {{"Range", "bytes=" + range}});
    scene.expect_part(part, span);
  }
  EXPECT_TRUE(await([&] { return b.digest_peer("a").at("true_hits") == 3; }));
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(LargePeer, WhatOneNeighbourCutComesFromTheNextBeforeTheOrigin) {
  LargeScene scene(20 * kMiB);
  ScriptedOrigin peers[2];
  TemporaryDirectory home;
  json settings = with_neighbour("p", peers[0].port(), home.path());
  settings["peers"].push_back(with_peer("q", peers[1].port())["peers"][0]);
  std::atomic<int> asked = 0;
  for (auto& peer : peers) {
    peer.on(kDigestPath, digest_reply(digest_claiming({scene.origin.url("/a")})));
    peer.sign_as("p");
    peer.on("/a", [&](const Request& request) {
      if (asked++ > 0) return scene.answer(request);
      return scene.described(Reply(200)).sized(scene.size).send(pattern(0, 9 * kMiB)).cut();
    });
  }
  ProxyProcess proxy(settings);
  for (const char* name : {"p", "q"}) {
    ASSERT_TRUE(await([&] { return proxy.digest_peer(name).at("state") == "usable"; }));
  }
  scene.expect_whole(Client(proxy.port()).get(scene.origin.url("/a")));
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(scene.origin.count(), 0U);
}

TEST(LargePeer, WhatTheOriginCutComesFromANeighbour) {
  LargePeer scene(20 * kMiB);
  scene.peer.on("/a", [&](const Request& request) {
    if (request.has("Range")) return scene.answer(request);
    return Reply(200, {{"Cache-Control", "max-age=60"}, {"Age", "100"}}).body("stale");
  });
  scene.origin.on("/a",
                  scene.described(Reply(200)).sized(scene.size).send(pattern(0, 9 * kMiB)).cut());
  scene.expect_whole(scene.ask_for(""));
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(LargePeer, ThatCutsABodyWithoutAValidatorMakesNoRequestFail) {
  LargePeer scene(20 * kMiB);
  scene.etag.clear();
  scene.peer.on("/a",
                scene.described(Reply(200)).sized(scene.size).send(pattern(0, 9 * kMiB)).cut());
  scene.expect_whole(scene.ask_for(""));
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(LargePeer, HasAllOfWhatWasCutWithoutAValidator) {
  LargePeer scene(20 * kMiB);
  scene.etag.clear();
  scene.peer.on(kDigestPath, digest_reply(digest_claiming({})));
  ASSERT_TRUE(await([&] { return scene.books().at("entries") == 0; }));
  scene.origin.on("/a",
                  scene.described(Reply(200)).sized(scene.size).send(pattern(0, 9 * kMiB)).cut());
  EXPECT_FALSE(scene.ask_for("").whole);
  scene.origin.on("/a", Reply::hang_up());
  scene.peer.on(kDigestPath, digest_reply(digest_claiming({scene.origin.url("/a")})));
  ASSERT_TRUE(await([&] { return scene.books().at("entries") == 1; }));
  scene.expect_whole(scene.ask_for(""));
}

}  // namespace
}  // namespace scenario
