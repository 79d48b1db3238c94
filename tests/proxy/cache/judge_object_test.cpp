// What to do with a request for a large object that is only partly stored.
#include <gtest/gtest.h>

#include "proxy/cache/combine.hpp"
#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

using http::Forward;

const std::string kFresh = "Cache-Control: max-age=100\r\n";
const std::string kTag = "ETag: \"v1\"\r\n";
const std::string kSomeBytes = "Range: bytes=0-1\r\n";

struct ObjectCase {
  const char* name;
  Verdict expected;
  bool lacks = true;
  std::string request = "";
  seconds later{0};
  std::string response = kFresh + kTag;
  bool offline = false;
  bool begun = false;  // its length is not known yet
};

class JudgeObject : public ::testing::TestWithParam<ObjectCase> {};

TEST_P(JudgeObject, DecidesByWhatIsThere) {
  const auto& tested = GetParam();
  Budget budget(1 << 20);
  const Request by;
  const Response response(tested.response);
  const Received received{"http://a/", by.head.fields, response.head, kAtOnce, "us"};
  Found found{object_entry(budget, received, {1}, 10 << 20)};
  if (tested.begun) found.entry = begun_entry(budget, received, {1}, 10 << 20);
  found.lacks = tested.lacks;
  Request request(tested.request);
  request.facts.offline = tested.offline;
  EXPECT_EQ(judge(request.facts, found, kStart + tested.later), tested.expected);
}

const std::string kWhileRevalidate =
    "Cache-Control: max-age=100, stale-while-revalidate=50\r\n" + kTag;
const std::string kOnlyStored = "Cache-Control: only-if-cached\r\n";

INSTANTIATE_TEST_SUITE_P(
    Of, JudgeObject,
    ::testing::Values(
        ObjectCase{"AllHeld", {Action::serve, Forward::none}, false},
        ObjectCase{"AllHeldOfARange", {Action::serve, Forward::none}, false, kSomeBytes},
        ObjectCase{"Lacking", {Action::complete, Forward::partial}},
        ObjectCase{"LackingOfARange", {Action::complete, Forward::partial, true}, true, kSomeBytes},
        ObjectCase{"LackingNotToBeStored",
                   {Action::pass, Forward::partial},
                   true,
                   "Cache-Control: no-store\r\n"},
        ObjectCase{"LackingOnlyStored", {Action::refuse, Forward::partial}, true, kOnlyStored},
        ObjectCase{"AllHeldOnlyStored", {Action::serve, Forward::none}, false, kOnlyStored},
        ObjectCase{
            "LackingOffline", {Action::fetch, Forward::partial}, true, "", 0s, kFresh + kTag, true},
        ObjectCase{
            "LackingWithoutValidator", {Action::fetch, Forward::partial}, true, "", 0s, kFresh},
        ObjectCase{"LackingWithWeakTag",
                   {Action::fetch, Forward::partial, true},
                   true,
                   kSomeBytes,
                   0s,
                   kFresh + "ETag: W/\"v1\"\r\n"},
        ObjectCase{"LackingWithCredentials",
                   {Action::fetch, Forward::partial},
                   true,
                   "Authorization: a b\r\n"},
        ObjectCase{"LackingForAllWithCredentials",
                   {Action::complete, Forward::partial},
                   true,
                   "Authorization: a b\r\n",
                   0s,
                   "Cache-Control: max-age=100, public\r\n" + kTag},
        ObjectCase{"Begun",
                   {Action::complete, Forward::partial},
                   false,
                   "",
                   0s,
                   kFresh + kTag,
                   false,
                   true},
        ObjectCase{"BegunOfARange",
                   {Action::serve, Forward::none},
                   false,
                   kSomeBytes,
                   0s,
                   kFresh + kTag,
                   false,
                   true},
        ObjectCase{"BegunOfARangeLacking",
                   {Action::fetch, Forward::partial, true},
                   true,
                   kSomeBytes,
                   0s,
                   kFresh + kTag,
                   false,
                   true},
        ObjectCase{"BegunOnlyStored",
                   {Action::refuse, Forward::partial},
                   false,
                   kOnlyStored,
                   0s,
                   kFresh + kTag,
                   false,
                   true},
        ObjectCase{"Stale", {Action::revalidate, Forward::stale}, false, "", 100s},
        ObjectCase{"StaleLacking", {Action::revalidate, Forward::stale}, true, "", 100s},
        ObjectCase{
            "StaleOfARange", {Action::revalidate, Forward::stale, true}, true, kSomeBytes, 100s},
        ObjectCase{"WhileRevalidate",
                   {Action::refresh, Forward::stale},
                   false,
                   "",
                   120s,
                   kWhileRevalidate},
        ObjectCase{"WhileRevalidateLacking",
                   {Action::revalidate, Forward::stale},
                   true,
                   "",
                   120s,
                   kWhileRevalidate},
        ObjectCase{
            "Reload", {Action::revalidate, Forward::request}, true, "Cache-Control: no-cache\r\n"}),
    [](const auto& tested) { return tested.param.name; });

// Also for a neighbour that asks for what no digest claims.
TEST(OnlyIfCached, GivesOtherProxiesOnlyWhatIsShared) {
  Budget budget(1 << 20);
  const Found found{entry_of(budget, {.shared = false}), false};
  const Verdict hit{Action::serve, Forward::none};
  const Verdict refused{Action::refuse, Forward::none};
  Request neighbour(kOnlyStored);
  EXPECT_EQ(judge(neighbour.facts, found, kStart), hit);
  neighbour.facts.from_neighbour = true;
  EXPECT_EQ(judge(neighbour.facts, found, kStart), refused);
  EXPECT_EQ(judge(Request(kOnlyStored + "Via: 1.1 b\r\n").facts, found, kStart), refused);
  EXPECT_EQ(judge(Request("Via: 1.1 b\r\n").facts, found, kStart), hit);
}

}  // namespace
}  // namespace proxy::cache
