// Bounds that the settings set for a site (FreshnessBounds). Their effect is not stored with the
// response.
#include <gtest/gtest.h>

#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

struct BoundsCase {
  const char* name;
  std::string lines;
  seconds lifetime;  // with least 100 s, most 1000 s
  unsigned status = 200;
};

const std::string kModified5000sAgo = "Last-Modified: Sun, 31 Dec 2023 22:36:40 GMT\r\n";

class Bounded : public ::testing::TestWithParam<BoundsCase> {};

TEST_P(Bounded, LifetimeIsLiftedWhereItMayBeAndCutAlways) {
  const auto& c = GetParam();
  const Response response(c.lines, c.status);
  const auto control = http::cache_control(response.head.fields);
  const FreshnessBounds bounds{100s, 1000s};
  EXPECT_EQ(freshness_of(response.head, control, kStart, bounds).lifetime, c.lifetime);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Bounded,
    ::testing::Values(
        BoundsCase{"Short", "Cache-Control: max-age=1\r\n", 100s},
        BoundsCase{"Between", "Cache-Control: max-age=500\r\n", 500s},
        BoundsCase{"Long", "Cache-Control: max-age=5000\r\n", 1000s},
        BoundsCase{"Expired", "Expires: 0\r\n", 100s}, BoundsCase{"NothingSaid", "", 100s},
        BoundsCase{"Heuristic", kModified5000sAgo, 500s},
        BoundsCase{"RedirectThatSaysSo", "Cache-Control: max-age=1\r\n", 100s, 302},
        BoundsCase{"StatusThatIsNotCacheable", "", 0s, 302},
        BoundsCase{"Error", "Cache-Control: max-age=1\r\n", 1s, 404},
        BoundsCase{"ServerError", "Cache-Control: max-age=5000\r\n", 1000s, 503},
        BoundsCase{"MustRevalidate", "Cache-Control: max-age=1, must-revalidate\r\n", 1s},
        BoundsCase{"ProxyRevalidate", "Cache-Control: max-age=1, proxy-revalidate\r\n", 1s},
        BoundsCase{"SMaxage", "Cache-Control: s-maxage=1\r\n", 1s},
        BoundsCase{"LongSMaxage", "Cache-Control: s-maxage=5000\r\n", 1000s},
        BoundsCase{"NoCache", "Cache-Control: no-cache, max-age=1\r\n", 1s}),
    [](const auto& tested) { return tested.param.name; });

RequestFacts asked(const FreshnessBounds& bounds, const std::string& lines = "") {
  auto facts = Request(lines).facts;
  facts.freshness = bounds;
  return facts;
}

TEST(Bounds, LetUsefulResponsesBeStoredButNoneThatForbidIt) {
  const FreshnessBounds bounds{100s, 1000s};
  const auto stored = [&](const std::string& lines, const std::string& request = "") {
    return may_store(asked(bounds, request), Response(lines).head, kAtOnce);
  };
  EXPECT_EQ(stored("Cache-Control: max-age=0\r\n"), Storability::yes);
  EXPECT_EQ(may_store(asked({}), Response("Cache-Control: max-age=0\r\n").head, kAtOnce),
            Storability::max_age);
  EXPECT_EQ(stored("Cache-Control: no-store\r\n"), Storability::no_store);
  EXPECT_EQ(stored("Cache-Control: private\r\n"), Storability::private_);
  EXPECT_EQ(stored("Set-Cookie: a=b\r\n"), Storability::set_cookie);
  EXPECT_EQ(stored("", "Authorization: Basic bWU6bWU=\r\n"), Storability::authorization);
  EXPECT_EQ(stored("Vary: *\r\n"), Storability::vary_star);
}

TEST(Bounds, ClaimNothingForLongerThanTheResponseSays) {
  Budget budget{1 << 20};
  const Request request;
  const Response response("Cache-Control: max-age=10\r\n");
  const auto entry = [&](const FreshnessBounds& bounds) {
    return Entry(budget, Received{.url = "http://a/",
                                  .request = request.head.fields,
                                  .response = response.head,
                                  .times = kAtOnce,
                                  .our_name = "us",
                                  .bounds = bounds});
  };
  EXPECT_EQ(entry({100s, 1000s}).fresh_until, kStart + 100s);
  EXPECT_EQ(entry({100s, 1000s}).claimable_until(), kStart + 10s);
  EXPECT_EQ(entry({0s, 5s}).fresh_until, kStart + 5s);
  EXPECT_EQ(entry({0s, 5s}).claimable_until(), kStart + 5s);
}

TEST(Bounds, ThatLeaveNoLifetimeAreTheReasonThatNothingIsStored) {
  auto facts = Request().facts;
  facts.freshness.most = 0s;
  EXPECT_EQ(may_store(facts, Response("Cache-Control: max-age=10\r\n").head, kAtOnce),
            Storability::site);
}

TEST(NeverStore, PassesARequestAndKeepsNothing) {
  auto facts = Request().facts;
  facts.never_store = true;
  EXPECT_EQ(judge(facts, {}, kStart), (Verdict{Action::pass, http::Forward::bypass}));
  EXPECT_EQ(may_store(facts, Response("Cache-Control: max-age=10\r\n").head, kAtOnce),
            Storability::site);
  facts.control.only_if_cached = true;
  EXPECT_EQ(judge(facts, {}, kStart).action, Action::refuse);
}

}  // namespace
}  // namespace proxy::cache
