// Where this program may ask for another range than the client, and what a client gets if the
// origin does not grant it: a request that we changed and that fails is never the client's failure.
#include <gtest/gtest.h>

#include "tests/scenario/large/range_scene.hpp"

namespace scenario {
namespace {

class ChangedRange : public RangeScene {
 protected:
  using RangeScene::RangeScene;

  // The origin grants only what a client has asked for, by a field that says so.
  void grant_only_what_is_signed() {
    grants = [](const Request& request) {
      return request.field("Range") == request.field("X-Signed-Range");
    };
    refusal = Reply(403);
  }
  Response get_signed(const std::string& range, Fields fields = {}) {
    fields.emplace_back("X-Signed-Range", "bytes=" + range);
    return get(range, fields);
  }
};
INSTANTIATE_TEST_SUITE_P(By, ChangedRange, kAllWays,
                         [](const auto& way) { return std::string(way.param.name); });

// Origins that do not shorten a range whose end is behind theirs: dufs, sirv, Blossom and others.
TEST_P(ChangedRange, IsNotAskedForBehindTheEndOfAnObject) {
  grants = [this](const Request& request) { return span_of(request.field("Range")).second < size; };
  const Reply refusals[] = {Reply(416), Reply(404), Reply(400), Reply(500), Reply::hang_up()};
  for (std::size_t i = 0; i < std::size(refusals); ++i) {
    refusal = refusals[i];
    path = "/" + std::to_string(i);
    expect_part(get("0-700000"), {0, 700'000});
    EXPECT_EQ(asked(), std::vector<std::string>{"bytes=0-700000"}) << "its length is unknown";
    expect_part(get("0-700000"), {0, 700'000});
    expect_part(get("100000-815000"), {100'000, 815'000});
    expect_part(get("700000-"), {700'000, size - 1});
    expect_part(get("-100000"), {size - 100'000, size - 1});
    expect_whole(get());
  }
}

TEST_P(ChangedRange, ThatTheOriginRefusesIsFollowedByTheClientsOwn) {
  const Reply refusals[] = {Reply(416), Reply(404), Reply(400),      Reply(403),
                            Reply(500), Reply(302), Reply::hang_up()};
  std::string own = "bytes=0-99999";
  grants = [&](const Request& request) { return request.field("Range") == own; };
  for (std::size_t i = 0; i < std::size(refusals); ++i) {
    refusal = refusals[i];
    path = "/" + std::to_string(i);
    own = "bytes=0-99999";
    expect_part(get("0-99999"), {0, 99'999});
    own = "bytes=50000-299999";
    expect_part(get("50000-299999"), {50'000, 299'999});
    own = "bytes=400000-599999";
    expect_part(get("400000-599999"), {400'000, 599'999});
    own = "bytes=400000-499999";
    expect_part(get("400000-499999", {{"If-Range", etag}}), {400'000, 499'999});
    own = "bytes=-100000";
    expect_part(get("-100000"), {size - 100'000, size - 1});
    own = "bytes=350000-399999,100000-199999";  // of which the origin sends one
    expect_part(get("350000-399999,100000-199999"), {350'000, 399'999});
    expect_whole(get());
  }
}

TEST_P(ChangedRange, IsNotAskedForAnyMoreOfAnOriginThatHasRefusedOne) {
  std::string own = "bytes=0-99999";
  grants = [&](const Request& request) { return request.field("Range") == own; };
  get("0-99999");
  own = "bytes=50000-299999";
  expect_part(get("50000-299999"), {50'000, 299'999});
  path = "/b";
  own = "bytes=0-99999";
  expect_part(get("0-99999"), {0, 99'999});
  own = "bytes=50000-299999";
  expect_part(get("50000-299999"), {50'000, 299'999});
  EXPECT_EQ(asked(), (std::vector<std::string>{"bytes=0-99999", "bytes=50000-299999"}));
}

TEST_P(ChangedRange, IsNotAskedForWithASignatureInTheUrl) {
  grant_only_what_is_signed();
  for (const char* name : {"X-Amz-Signature", "X-Goog-Signature", "Signature"}) {
    path = std::string("/a?x=y&") + name + "=0f";
    for (const auto& range : {"0-99999", "50000-299999", "400000-700000"}) {
      expect_part(get_signed(range), span_of(std::string("bytes=") + range));
      EXPECT_EQ(asked().back(), std::string("bytes=") + range);
    }
    EXPECT_EQ(asked().size(), 3U);
  }
}

TEST_P(ChangedRange, IsNotAskedForWithCredentials) {
  grant_only_what_is_signed();
  const std::string aws = "AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host;range, Signature=0f";
  for (const std::string& credentials : {aws, std::string("Basic YTpi")}) {
    for (const auto& range : {"0-99999", "50000-299999", "400000-700000"}) {
      const Response part = get_signed(range, {{"Authorization", credentials}});
      expect_part(part, span_of(std::string("bytes=") + range));
    }
  }
  EXPECT_EQ(asked().size(), 6U) << "each was asked for once";
}

// Though the response may be stored with credentials.
TEST_P(ChangedRange, IsNotAskedForIfTheClientSignsItsOwn) {
  grant_only_what_is_signed();
  cache_control = "public, max-age=3600";
  const Fields credentials{{"Authorization", "AWS4-HMAC-SHA256 SignedHeaders=host;range"}};
  for (const auto& range : {"0-99999", "50000-299999", "400000-700000", "0-9,5-20"}) {
    get_signed(range, credentials);
    EXPECT_EQ(asked().back(), std::string("bytes=") + range);
  }
  EXPECT_EQ(asked().size(), 4U);
}

TEST_P(ChangedRange, IsNotAskedForOfWhatIsNotStored) {
  cache_control = "no-store";
  grant_only_what_is_signed();
  for (const auto& range : {"0-99999", "50000-299999", "400000-700000"}) {
    expect_part(get_signed(range), span_of(std::string("bytes=") + range));
  }
  EXPECT_EQ(asked().size(), 3U);
}

class ChangedRangeOfALargeObject : public ChangedRange {
 protected:
  ChangedRangeOfALargeObject() : ChangedRange(6 * kMiB) {}
};
INSTANTIATE_TEST_SUITE_P(By, ChangedRangeOfALargeObject, kAllWays,
                         [](const auto& way) { return std::string(way.param.name); });

TEST_P(ChangedRangeOfALargeObject, ThatTheOriginRefusesIsFollowedByTheClientsOwn) {
  const Reply refusals[] = {Reply(400), Reply(403), Reply(404),
                            Reply(416), Reply(500), Reply::hang_up()};
  for (std::size_t i = 0; i < std::size(refusals); ++i) {
    refusal = refusals[i];
    path = "/" + std::to_string(i);
    grants = [](const Request&) { return true; };
    expect_part(get("0-2097151"), {0, 2 * kMiB - 1});
    std::string own = "bytes=3000000-4000000";
    grants = [&](const Request& request) { return request.field("Range") == own; };
    expect_part(get("3000000-4000000"), {3'000'000, 4'000'000});
    own = "bytes=2500000-";
    expect_part(get("2500000-"), {2'500'000, size - 1});
    own = "bytes=-3000000";
    expect_part(get("-3000000"), {size - 3'000'000, size - 1});
  }
}

// The first blocks are stored, and the client has them when the others are asked for.
TEST_P(ChangedRangeOfALargeObject, ThatTheOriginRefusesIsFollowedByTheWholeIfTheClientWantsThat) {
  const Reply refusals[] = {Reply(400), Reply(403), Reply(500), Reply::hang_up()};
  for (std::size_t i = 0; i < std::size(refusals); ++i) {
    refusal = refusals[i];
    path = "/" + std::to_string(i);
    grants = [](const Request&) { return true; };
    expect_part(get("0-2097151"), {0, 2 * kMiB - 1});
    grants = [](const Request&) { return false; };
    expect_whole(get());
    expect_whole(get());
  }
}

TEST_P(ChangedRangeOfALargeObject, IsNotAskedForIfTheClientSignsItsOwn) {
  cache_control = "public, max-age=3600";
  expect_part(get("0-2097151"), {0, 2 * kMiB - 1});
  grant_only_what_is_signed();
  const Fields credentials{{"Authorization", "AWS4-HMAC-SHA256 SignedHeaders=host;range"}};
  expect_part(get_signed("1000000-4000000", credentials), {1'000'000, 4'000'000});
  expect_part(get_signed("100000-200000", credentials), {100'000, 200'000});
}

}  // namespace
}  // namespace scenario
