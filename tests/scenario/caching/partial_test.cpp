// Parts from the origin are stored, served, completed and combined (RFC 9111 3.3, 3.4).
#include <gtest/gtest.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

constexpr std::size_t kSize = 300'000;  // several blocks

std::string text(std::size_t first, std::size_t last, const std::string& length) {
  return "bytes " + std::to_string(first) + '-' + std::to_string(last) + '/' + length;
}

// An origin that answers ranges.
struct Parts : Scene {
  explicit Parts(std::string field = "ETag: \"v1\"", std::string control = "max-age=3600",
                 const json& settings = json::object())
      : Scene(settings), validator(std::move(field)), cache_control(std::move(control)) {
    origin.on("/a", [this](const Request& request) { return answer(request); });
  }

  Reply described(Reply reply, bool short_of_type = false) const {
    reply.with("Cache-Control", cache_control);
    if (!short_of_type) reply.with("Content-Type", "x/y");
    const auto colon = validator.find(": ");
    if (colon != std::string::npos)
      reply.with(validator.substr(0, colon), validator.substr(colon + 2));
    return reply;
  }
  Reply part(std::size_t first, std::size_t last, bool short_of_type = false) const {
    const auto range = text(first, last, std::to_string(kSize));
    return described(Reply(206, {{"Content-Range", range}}), short_of_type)
        .body(bytes.substr(first, last - first + 1));
  }
  // Answers single ranges, like "bytes=5-9", "bytes=5-" and "bytes=-5".
  Reply answer(const Request& request) const {
    const std::string range = request.field("Range");
    const bool same = !request.has("If-Range") || contains(validator, request.field("If-Range"));
    const std::string tag = request.field("If-None-Match");
    if (!tag.empty() && contains(validator, tag)) return described(Reply(304));
    if (range.empty() || !same) return described(Reply(200)).body(bytes);
    const auto dash = range.find('-');
    const auto end = range.substr(dash + 1);
    const bool is_short = terse && request.has("If-Range");
    if (dash == 6) return part(kSize - std::stoul(end), kSize - 1, is_short);
    const auto first = std::stoul(range.substr(6, dash - 6));
    const auto last = end.empty() ? kSize - 1 : std::min(std::stoul(end), kSize - 1);
    return part(first, last, is_short);
  }

  Response get(const std::string& range = "", Fields fields = {}) {
    if (!range.empty()) fields.emplace_back("Range", "bytes=" + range);
    return client.get(origin.url("/a"), fields);
  }
  void expect_part(const Response& response, std::size_t first, std::size_t last) const {
    EXPECT_EQ(response.status, 206);
    EXPECT_TRUE(response.whole);
    EXPECT_TRUE(response.body == bytes.substr(first, last - first + 1));
    EXPECT_EQ(response.field("Content-Range"), text(first, last, std::to_string(kSize)));
    EXPECT_EQ(response.field("Content-Length"), std::to_string(last - first + 1));
  }
  void expect_whole(const Response& response) const {
    EXPECT_EQ(response.status, 200);
    EXPECT_TRUE(response.whole && response.body == bytes);
    EXPECT_FALSE(response.has("Content-Range"));
    EXPECT_EQ(response.field("Content-Type"), "x/y");
  }
  std::string last_range() const { return origin.requests("/a").back().field("Range"); }

  const std::string bytes = numbered_bytes(kSize);
  const std::string validator;
  const std::string cache_control;
  bool terse = false;  // a 206 to If-Range has only the fields that RFC 9110 15.3.7 requires
};

TEST(Partial, IsAskedForAsItIsAndKept) {
  Parts scene;
  const Response miss = scene.get("100000-199999");
  scene.expect_part(miss, 100'000, 199'999);
  EXPECT_TRUE(contains(miss.field("Cache-Status"), "fwd=uri-miss"));
  EXPECT_TRUE(contains(miss.field("Cache-Status"), "stored"));
  EXPECT_EQ(scene.last_range(), "bytes=100000-199999");
  const struct {
    const char* range;
    std::size_t first, last;
  } cases[] = {{"100000-199999", 100'000, 199'999},
               {"100000-100000", 100'000, 100'000},
               {"150000-199998", 150'000, 199'998}};
  for (const auto& [range, first, last] : cases) {
    const Response part = scene.get(range);
    EXPECT_TRUE(is_hit(part)) << range;
    scene.expect_part(part, first, last);
    EXPECT_EQ(part.field("Content-Type"), "x/y");
    EXPECT_TRUE(part.has("Age"));
  }
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(Partial, AtTheEndAnswersSuffixesAndOpenEnds) {
  Parts scene;
  scene.get("200000-");
  for (const char* range : {"-50000", "250000-", "250000-900000"}) {
    const Response part = scene.get(range);
    EXPECT_TRUE(is_hit(part)) << range;
    scene.expect_part(part, 250'000, kSize - 1);
  }
  EXPECT_FALSE(is_hit(scene.get("199999-")));
}

// RFC 9110 section 17.15.
TEST(Partial, OfTooManyRangesIsTheWhole) {
  std::string many = "0-";
  for (int i = 1; i < 200; ++i) many += ",0-";
  for (const Fields& fields : {Fields{}, Fields{{"Cache-Control", "no-store"}}}) {
    Parts scene;
    scene.expect_whole(scene.get(many, fields));
    EXPECT_EQ(scene.last_range(), "");
    EXPECT_EQ(is_hit(scene.get()), fields.empty());
  }
}

TEST(Partial, OfRangesThatOverlapIsAskedForOnce) {
  for (const Fields& fields : {Fields{}, Fields{{"Cache-Control", "no-store"}}}) {
    Parts scene;
    scene.expect_part(scene.get("0-999,500-1999,0-0", fields), 0, 1999);
    EXPECT_EQ(scene.last_range(), "bytes=0-1999");
    EXPECT_EQ(is_hit(scene.get("0-1999")), fields.empty());
  }
}

TEST(Partial, MeetsTheClientsConditions) {
  Parts scene;
  scene.get("0-99");
  EXPECT_EQ(scene.get("0-9", {{"If-None-Match", "\"v1\""}}).status, 304);
  EXPECT_TRUE(is_hit(scene.get("0-9", {{"If-Range", "\"v1\""}})));
  const Response other = scene.get("0-9", {{"If-Range", "\"v2\""}});
  scene.expect_whole(other);  // from the origin
  EXPECT_EQ(scene.origin.requests("/a").back().field("If-Range"), "\"v2\"");
}

struct TerseParts : Parts {
  TerseParts() { terse = true; }
  const Fields same{{"If-Range", "\"v1\""}};
};

TEST(Partial, OfAResumeIsKeptWithAllOfItsHead) {
  TerseParts scene;
  const Response resumed = scene.get("150000-", scene.same);
  scene.expect_part(resumed, 150'000, kSize - 1);
  EXPECT_EQ(resumed.field("Content-Type"), "x/y");
  EXPECT_FALSE(scene.origin.requests("/a").front().has("If-Range"));
  scene.get("0-149999");
  const Response whole = scene.get();
  scene.expect_whole(whole);
  EXPECT_TRUE(is_hit(whole));
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(Partial, OfAResumeOfAnotherVersionIsNotSent) {
  TerseParts scene;
  scene.expect_whole(scene.get("150000-", {{"If-Range", "\"v0\""}}));
  EXPECT_EQ(scene.origin.count(), 2U) << "a part of this version, and what the origin says to that";
  EXPECT_TRUE(is_hit(scene.get()));
}

TEST(Partial, ThatMayLackMostOfItsHeadIsNotKept) {
  for (const char* range : {"-300000", "-1000"}) {
    TerseParts scene;
    EXPECT_EQ(scene.get(range, scene.same).status, 206);
    EXPECT_TRUE(scene.origin.requests("/a").front().has("If-Range"));
    scene.expect_whole(scene.get());
  }
}

TEST(Partial, IsNeverTheWhole) {
  Parts scene("");
  scene.get("0-99");
  EXPECT_EQ(scene.client.request("HEAD", scene.origin.url("/a")).field("Content-Length"),
            std::to_string(kSize));
  for (Fields fields : {Fields{}, Fields{{"If-None-Match", "\"x\""}}}) {
    fields.emplace_back("Cache-Control", "only-if-cached");
    const Response stored = scene.get("", fields);
    EXPECT_EQ(stored.status, 504);
    EXPECT_TRUE(contains(stored.field("Cache-Status"), "fwd=partial"));
  }
  scene.expect_whole(scene.get());
  EXPECT_TRUE(is_hit(scene.get()));
}

TEST(Partial, AnswersOnlyIfCachedForTheBytesThatItHas) {
  Parts scene;
  scene.get("0-99");
  const Fields only{{"Cache-Control", "only-if-cached"}};
  scene.expect_part(scene.get("10-19", only), 10, 19);
  EXPECT_EQ(scene.get("10-100", only).status, 504);
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(Partial, IsCompletedByItsMissingBytes) {
  Parts scene;
  scene.get("0-99999");
  const Response whole = scene.get();
  scene.expect_whole(whole);
  EXPECT_TRUE(contains(whole.field("Cache-Status"), "fwd=partial"));
  EXPECT_EQ(scene.last_range(), "bytes=100000-");
  EXPECT_EQ(scene.origin.requests("/a").back().field("If-Range"), "\"v1\"");
  const Response hit = scene.get();
  scene.expect_whole(hit);
  EXPECT_TRUE(is_hit(hit));
  scene.expect_part(scene.get("150000-"), 150'000, kSize - 1);
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(Partial, IsCompletedForALargerRange) {
  Parts scene;
  scene.get("50000-99999");
  const Response larger = scene.get("70000-199999");
  scene.expect_part(larger, 70'000, 199'999);
  EXPECT_TRUE(contains(larger.field("Cache-Status"), "fwd=partial"));
  EXPECT_EQ(scene.last_range(), "bytes=100000-199999");
  scene.expect_part(scene.get("50000-199999"), 50'000, 199'999);
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(Partial, GrowsByEachRangeThatTouches) {
  Parts scene;
  for (const char* range : {"100000-199999", "200000-299999", "0-100009"}) {
    EXPECT_FALSE(is_hit(scene.get(range))) << range;
  }
  const Response whole = scene.get();
  EXPECT_TRUE(is_hit(whole));
  scene.expect_whole(whole);
}

TEST(Partial, CombinesNothingWithoutAStrongValidator) {
  for (const char* validator : {"", "ETag: W/\"v1\""}) {
    Parts scene(validator);
    scene.get("0-99999");
    scene.expect_part(scene.get("100000-"), 100'000, kSize - 1);
    scene.expect_part(scene.get("0-199999"), 0, 199'999);
    EXPECT_FALSE(is_hit(scene.get("0-250000"))) << validator;
    scene.expect_whole(scene.get());
  }
}

TEST(Partial, IsReplacedByAnotherVersion) {
  Parts scene;
  scene.get("0-99999");
  const std::string newer(kSize, 'n');
  scene.origin.on("/a", [&](const Request& request) {
    if (request.field("If-Range") == "\"v1\"") return cacheable(newer).with("ETag", "\"v2\"");
    return Reply(206, {{"Content-Range", text(100'000, 100'009, std::to_string(kSize))}})
        .with("Cache-Control", "max-age=60")
        .with("ETag", "\"v2\"")
        .body("0123456789");
  });
  EXPECT_EQ(scene.get("100000-100009").body, "0123456789");  // adjacent, and of another version
  EXPECT_FALSE(is_hit(scene.get("0-9")));
}

TEST(Partial, ThatHasChangedIsReplacedByTheWholeResponse) {
  Parts scene;
  scene.get("0-99999");
  scene.origin.on("/a", cacheable("new").with("ETag", "\"v2\""));
  const Response changed = scene.get();
  EXPECT_EQ(changed.status, 200);
  EXPECT_EQ(changed.body, "new");
  EXPECT_EQ(scene.last_range(), "bytes=100000-");
  EXPECT_TRUE(is_hit(scene.get()));
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(Partial, IsStaleAsAnyOther) {
  Parts scene("ETag: \"v1\"", "max-age=0");
  scene.get("0-99");
  const Response part = scene.get("10-19");
  scene.expect_part(part, 10, 19);
  EXPECT_TRUE(contains(part.field("Cache-Status"), "fwd=stale; fwd-status=304"));
  const auto asked = scene.origin.requests("/a").back();
  EXPECT_EQ(asked.field("If-None-Match"), "\"v1\"");
  EXPECT_EQ(asked.field("Range"), "bytes=10-19");
  scene.origin.on("/a", scene.part(10, 19).with("ETag", "\"v2\""));
  scene.origin.on("/a", Reply(206, {{"Content-Range", "bytes 10-19/20"}, {"ETag", "\"v2\""}})
                            .with("Cache-Control", "max-age=60")
                            .body("0123456789"));
  EXPECT_EQ(scene.get("10-19").body, "0123456789");
  EXPECT_TRUE(is_hit(scene.get("-10")));
}

TEST(Partial, IsKeptByTheRulesForAll) {
  const struct {
    const char* cache_control;
    Fields request;
  } cases[] = {
      {"no-store", {}},
      {"private, max-age=60", {}},
      {"max-age=60", {{"Cache-Control", "no-store"}}},
      {"max-age=60", {{"Authorization", "Basic eDp5"}}},
  };
  for (const auto& [cache_control, fields] : cases) {
    Parts scene("ETag: \"v1\"", cache_control);
    scene.expect_part(scene.get("0-9", fields), 0, 9);
    EXPECT_FALSE(is_hit(scene.get("0-9"))) << cache_control;
  }
}

TEST(Partial, LeavesWithTheUrl) {
  Parts scene;
  scene.get("0-99");
  scene.client.request("POST", scene.origin.url("/a"), {}, "x");
  EXPECT_FALSE(is_hit(scene.get("0-99")));
}

TEST(Partial, IsPurgedWithTheUrl) {
  Parts scene;
  scene.get("0-99");
  ASSERT_TRUE(is_hit(scene.get("0-99")));
  EXPECT_EQ(scene.client.request("PURGE", scene.origin.url("/a"), kOnPurpose).status, 200);
  EXPECT_FALSE(is_hit(scene.get("0-99")));
}

TEST(Partial, IsOneVariantsPart) {
  Scene scene;
  scene.origin.on("/a", [](const Request& request) {
    return Reply(206, {{"Vary", "Accept"}, {"Content-Range", "bytes 0-2/9"}})
        .with("Cache-Control", "max-age=60")
        .body(request.field("Accept"));
  });
  const auto get = [&](const char* accept) {
    return scene.client.get(scene.origin.url("/a"), {{"Range", "bytes=0-2"}, {"Accept", accept}});
  };
  get("a/a");
  EXPECT_FALSE(is_hit(get("b/b")));
  EXPECT_TRUE(is_hit(get("a/a")));
  EXPECT_EQ(get("b/b").body, "b/b");
}

// The gate holds a part back. Requests for other bytes do not wait for it.
TEST(Partial, IsAwaitedByNoOtherRequest) {
  Parts scene;
  Gate gate;
  scene.origin.on("/a", [&](const Request& request) {
    if (request.field("Range") != "bytes=0-9") return scene.answer(request);
    return scene.described(Reply(206, {{"Content-Range", text(0, 9, std::to_string(kSize))}}))
        .sized(10)
        .start()
        .wait(gate)
        .send(scene.bytes.substr(0, 10));
  });
  Client first(scene.proxy.port());
  first.send(request_text("GET", scene.origin.url("/a"), {{"Range", "bytes=0-9"}}));
  ASSERT_TRUE(scene.origin.await_requests("/a", 1));
  scene.expect_part(scene.get("20-29"), 20, 29);
  scene.expect_whole(scene.get());
  gate.open();
  scene.expect_part(first.read(), 0, 9);
  EXPECT_TRUE(is_hit(scene.get()));  // the part is of the same version, and removed nothing
}

TEST(Partial, OfACutBodyIsCompleted) {  // RFC 9111 3.3
  Parts scene;
  scene.origin.on(
      "/a", scene.described(Reply(200)).sized(kSize).send(scene.bytes.substr(0, 70'000)).cut());
  const Response cut = scene.get();
  EXPECT_FALSE(cut.whole);
  scene.origin.on("/a", [&](const Request& request) { return scene.answer(request); });
  Client again(scene.proxy.port());
  scene.expect_whole(again.get(scene.origin.url("/a")));
  EXPECT_EQ(scene.last_range(), "bytes=70000-");
}

}  // namespace
}  // namespace scenario
