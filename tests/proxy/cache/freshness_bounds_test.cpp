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

const std::string kValidated = "Cache-Control: max-age=100\r\nETag: \"v1\"\r\n";
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
  facts.fields = nullptr;  // they end with the request
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
    return Entry::make(budget, Received{.url = "http://a/",
                                        .request = request.head.fields,
                                        .response = response.head,
                                        .times = kAtOnce,
                                        .our_name = "us",
                                        .bounds = bounds});
  };
  EXPECT_EQ(entry({100s, 1000s})->fresh_until(), kStart + 100s);
  EXPECT_EQ(entry({100s, 1000s})->claimable_until(), kStart + 10s);
  EXPECT_EQ(entry({0s, 5s})->fresh_until(), kStart + 5s);
  EXPECT_EQ(entry({0s, 5s})->claimable_until(), kStart + 5s);
}

TEST(Bounds, ThatLeaveNoLifetimeAreTheReasonThatNothingIsStored) {
  auto facts = asked({0s, 0s});
  EXPECT_EQ(may_store(facts, Response("Cache-Control: max-age=10\r\n").head, kAtOnce),
            Storability::site);
}

TEST(Bounds, SayHowLongAnErrorIsFreshThatDoesNotSay) {
  FreshnessBounds bounds;
  bounds.errors = 10s;
  const auto lifetime = [&](const std::string& lines, unsigned status) {
    const Response response(lines, status);
    return freshness_of(response.head, http::cache_control(response.head.fields), kStart, bounds)
        .lifetime;
  };
  for (const unsigned status : {404U, 405U, 410U, 414U, 501U}) {
    EXPECT_EQ(lifetime("", status), 10s) << status;
    EXPECT_EQ(lifetime(kModified5000sAgo, status), 10s) << "a guess is no word of the origin";
    EXPECT_EQ(lifetime("Cache-Control: max-age=3\r\n", status), 3s);
    EXPECT_EQ(lifetime("Expires: 0\r\n", status), 0s);
  }
  for (const unsigned status : {400U, 401U, 403U, 429U, 500U, 502U, 503U, 504U}) {
    const Response response("", status);
    EXPECT_EQ(lifetime("", status), 0s) << status;
    EXPECT_EQ(may_store(asked(bounds), response.head, kAtOnce), Storability::status) << status;
  }
  EXPECT_EQ(lifetime(kModified5000sAgo, 200), 500s);
  const auto stored = [&](const std::string& lines, const std::string& request = "") {
    return may_store(asked(bounds, request), Response(lines, 404).head, kAtOnce);
  };
  EXPECT_EQ(stored(""), Storability::yes);
  EXPECT_EQ(stored("Cache-Control: no-store\r\n"), Storability::no_store);
  EXPECT_EQ(stored("Cache-Control: private\r\n"), Storability::private_);
  EXPECT_EQ(stored("Cache-Control: no-cache\r\n"), Storability::no_cache);
  EXPECT_EQ(stored("", "Authorization: Basic bWU6bWU=\r\n"), Storability::authorization);
}

// A neighbour with the rule judges the response as we do; any other must not get it.
TEST(ARule, IsNamedByANeighbourThatGetsWhatItKeepsFresh) {
  Budget budget{1 << 20};
  const Found kept{entry_of(budget, {.bounds = {1000s}, .rule = 7})};
  const auto action = [&](bool is_neighbour, digest::RuleHash named, seconds later) {
    auto facts = asked({}, "Cache-Control: only-if-cached\r\nVia: 1.1 b\r\n");
    facts.from_neighbour = is_neighbour;
    facts.asked_rule = named;
    facts.rule = 7;
    return judge(facts, kept, kStart + later).action;
  };
  for (const digest::RuleHash named : {0, 7, 8}) {
    EXPECT_EQ(action(true, named, 99s), Action::serve) << named << " by the origin's word";
    EXPECT_EQ(action(true, named, 100s), named == 7 ? Action::serve : Action::refuse) << named;
    EXPECT_EQ(action(true, named, 1000s), Action::refuse) << named;
    EXPECT_EQ(action(false, named, 500s), Action::serve) << "a client of ours, or its proxy";
  }
}

TEST(ARule, ThatOpensASiteToAllLetsSuccessBeStoredWhateverTheCredentials) {
  auto facts = asked({}, "Authorization: Basic bWU6bWU=\r\n");
  facts.authorization = false;
  facts.open_to_all = true;
  const auto stored = [&](const std::string& lines, unsigned status) {
    return may_store(facts, Response(lines, status).head, kAtOnce);
  };
  const std::string fresh = "Cache-Control: max-age=10\r\n";
  EXPECT_EQ(stored(fresh, 200), Storability::yes);
  for (const unsigned status : {302U, 401U, 403U, 404U, 500U}) {
    EXPECT_EQ(stored(fresh, status), Storability::authorization) << status;
  }
  EXPECT_EQ(stored("Cache-Control: max-age=10, private\r\n", 200), Storability::private_);
}

TEST(ARule, ThatOpensASiteToAllHidesWhatItStoredOnceItIsGone) {
  Budget budget{1 << 20};
  const Found kept{entry_of(budget, {.lines = kValidated, .rule = 7, .by_rule_alone = true})};
  auto facts = asked({});
  EXPECT_EQ(judge(facts, kept, kStart), (Verdict{Action::fetch, http::Forward::uri_miss}));
  EXPECT_FALSE(may_stand_in(facts, *kept.entry, kStart + 101s, 1000s));
  facts.open_to_all = true;
  EXPECT_EQ(judge(facts, kept, kStart).action, Action::serve);
  EXPECT_TRUE(may_stand_in(facts, *kept.entry, kStart + 101s, 1000s));
  auto neighbour = asked({}, "Cache-Control: only-if-cached\r\nVia: 1.1 b\r\n");
  neighbour.open_to_all = true;
  neighbour.from_neighbour = true;
  EXPECT_EQ(judge(neighbour, kept, kStart).action, Action::refuse)
      << "a neighbour without the rule";
  neighbour.asked_rule = 7;
  EXPECT_EQ(judge(neighbour, kept, kStart).action, Action::serve);
}

TEST(Immutable, AnswersAReloadWhileItIsFresh) {
  Budget budget{1 << 20};
  const Found kept{entry_of(budget, {.lines = kValidated})};
  for (const char* control : {"no-cache", "max-age=0", "max-age=5", "min-fresh=200"}) {
    auto facts = asked({}, "Cache-Control: " + std::string(control) + "\r\n");
    EXPECT_EQ(judge(facts, kept, kStart + 50s).action, Action::revalidate) << control;
    facts.immutable = true;
    EXPECT_EQ(judge(facts, kept, kStart + 50s).action, Action::serve) << control;
    EXPECT_EQ(judge(facts, kept, kStart + 100s).action, Action::revalidate) << control;
    const Found must_be_validated{
        entry_of(budget, {.lines = kValidated + "Pragma: x\r\nCache-Control: no-cache\r\n"})};
    EXPECT_EQ(judge(facts, must_be_validated, kStart).action, Action::revalidate) << control;
  }
}

TEST(NeverStore, PassesARequestAndKeepsNothing) {
  auto facts = asked({});
  facts.never_store = true;
  EXPECT_EQ(judge(facts, {}, kStart), (Verdict{Action::pass, http::Forward::bypass}));
  EXPECT_EQ(may_store(facts, Response("Cache-Control: max-age=10\r\n").head, kAtOnce),
            Storability::site);
  facts.control.only_if_cached = true;
  EXPECT_EQ(judge(facts, {}, kStart).action, Action::refuse);
}

// A class of the settings (FreshnessBounds::by_class). The first answer of a shared cache on the
// way may be old already.
TEST(AClass, SaysHowLongAResponseLastsWhateverItsOriginSays) {
  const FreshnessBounds fresh{.least = 60s, .errors = 5s, .by_class = true};
  const FreshnessBounds always{.most = 0s, .by_class = true};
  const struct {
    std::string lines;
    unsigned status;
    FreshnessBounds bounds;
    seconds lifetime;
    Storability stored;
  } cases[] = {
      {"", 200, fresh, 60s, Storability::yes},
      {"Age: 500\r\n", 200, fresh, 560s, Storability::yes},
      {"Cache-Control: max-age=86400\r\n", 200, fresh, 60s, Storability::yes},
      {"Cache-Control: no-cache\r\n", 200, fresh, 60s, Storability::yes},
      {"Cache-Control: private, max-age=0, must-revalidate\r\n", 200, fresh, 60s, Storability::yes},
      {"Cache-Control: no-store\r\n", 200, fresh, 60s, Storability::no_store},
      {"Expires: 0\r\n", 200, fresh, 60s, Storability::yes},
      {"Set-Cookie: a=b\r\nCache-Control: public\r\n", 200, fresh, 60s,
       Storability::set_cookie},  // C6
      {"Cache-Control: max-age=86400\r\n", 200, always, 0s, Storability::site},
      {"Cache-Control: max-age=86400\r\nETag: \"v\"\r\n", 200, always, 0s, Storability::yes},
      {"", 404, fresh, 5s, Storability::yes},  // C1
      {"Cache-Control: max-age=86400\r\n", 410, fresh, 5s, Storability::yes},
      {"", 451, fresh, 5s, Storability::yes},
      {"Cache-Control: max-age=86400\r\n", 404, always, 0s, Storability::status},
      {"Cache-Control: max-age=86400\r\n", 403, fresh, 0s, Storability::status},
      {"Cache-Control: max-age=86400\r\n", 503, fresh, 0s, Storability::status},
      {"Cache-Control: max-age=86400\r\n", 302, fresh, 0s, Storability::status},
      {"Cache-Control: max-age=86400\r\n", 301, fresh, 0s, Storability::status},
  };
  for (const auto& c : cases) {
    const Response response(c.lines, c.status);
    auto facts = asked({});
    facts.freshness = c.bounds;
    const auto control = http::cache_control(response.head.fields);
    EXPECT_EQ(freshness_of(response.head, control, kStart, c.bounds).lifetime, c.lifetime)
        << c.status << c.lines;
    EXPECT_EQ(may_store(facts, response.head, kAtOnce), c.stored) << c.status << c.lines;
  }
}

TEST(AClass, KeepsNoCodedAndNoEmptyResponseForGood) {  // N4
  auto facts = asked({});
  facts.freshness = {.least = http::kForever, .by_class = true};
  const std::pair<std::string, Storability> cases[] = {
      {"Content-Length: 1\r\n", Storability::yes},
      {"Content-Length: 0\r\n", Storability::site},
      {"Content-Length: 0\r\nETag: \"a\"\r\n", Storability::site},
      {"Content-Length: 0\r\nETag: W/\"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\"\r\n",
       Storability::yes},
      {"Content-Length: 0\r\nETag: "
       "\"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b78"
       "52b855\"\r\n",
       Storability::yes},
      {"Content-Encoding: gzip\r\n", Storability::site},
      {"Content-Encoding: identity\r\n", Storability::yes},
  };
  for (const auto& [lines, stored] : cases) {
    const Response response(lines);
    facts.immutable = false;
    EXPECT_EQ(may_store(facts, response.head, kAtOnce), Storability::yes) << lines;
    facts.immutable = true;
    EXPECT_EQ(may_store(facts, response.head, kAtOnce), stored) << lines;
  }
}

TEST(AClass, LetsAResponseStandInWhateverTheClientAsksFor) {  // C3
  Budget budget{1 << 20};
  const FreshnessBounds bounds{.least = 60s, .by_class = true};
  const Found kept{entry_of(budget, {.lines = "Cache-Control: no-cache, private\r\nETag: \"v\"\r\n",
                                     .bounds = bounds,
                                     .rule = 7})};
  EXPECT_EQ(judge(asked({}), kept, kStart + 59s).action, Action::serve);
  for (const char* control : {"max-age=3600", "no-cache", "max-age=0"}) {
    auto facts = asked({}, "Cache-Control: " + std::string(control) + "\r\n");
    EXPECT_FALSE(may_stand_in(facts, *kept.entry, kStart + 100s)) << control;
    facts.freshness = bounds;
    EXPECT_TRUE(may_stand_in(facts, *kept.entry, kStart + 10s)) << control;
    EXPECT_TRUE(may_stand_in(facts, *kept.entry, kStart + 100s)) << control;
    EXPECT_TRUE(may_stand_in(facts, *kept.entry, kStart + 60s + std::chrono::days(30))) << control;
    EXPECT_FALSE(may_stand_in(facts, *kept.entry, kStart + 61s + std::chrono::days(30))) << control;
  }
}

// What its origin keeps from shared caches, a neighbour without the rule must not get.
TEST(AClass, IsAClaimToNeighboursWithTheRuleAlone) {
  Budget budget{1 << 20};
  const FreshnessBounds bounds{.least = http::kForever, .by_class = true};
  for (const char* control : {"private", "no-cache", "max-age=0"}) {
    const Found kept{entry_of(
        budget,
        {.lines = "Cache-Control: " + std::string(control) + "\r\n", .bounds = bounds, .rule = 7})};
    EXPECT_LE(kept.entry->claimable_until(), kStart) << control;
    EXPECT_GT(kept.entry->claimable_by_rule_until(), kStart + std::chrono::days(3650)) << control;
  }
}

}  // namespace
}  // namespace proxy::cache
