#include "proxy/fetching/lookup.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/client/serve_scene.hpp"

namespace proxy::fetching {
namespace {

using cache::Action;
using cache::Verdict;
using http::Forward;

struct Asking {
  const char* name;
  std::string lines;
  Verdict verdict;
  bool shared;   // with other requests
  bool sibling;  // may answer
};
class Asks : public testing::TestWithParam<Asking> {};

const Verdict kMissOfAll{Action::fetch, Forward::uri_miss};
const Verdict kMissOfAPart{Action::fetch, Forward::uri_miss, true};

TEST_P(Asks, OthersForNoMoreThanTheyMayGive) {
  const client::ServeScene scene;
  const policy::TextRequest request(GetParam().lines);
  Lookup lookup;
  lookup.verdict = GetParam().verdict;
  EXPECT_EQ(may_share(scene.fetching, *request, lookup), GetParam().shared);
  EXPECT_EQ(sibling_may_answer(*request, lookup.verdict), GetParam().sibling);
}

INSTANTIATE_TEST_SUITE_P(
    Misses, Asks,
    testing::Values(
        Asking{"Plain", "", kMissOfAll, true, true},
        Asking{"AnotherVariantIsStored", "", {Action::fetch, Forward::vary_miss}, true, true},
        Asking{"Stale", "", {Action::revalidate, Forward::stale}, true, true},
        Asking{"StaleWithoutValidator", "", {Action::fetch, Forward::stale}, true, true},
        Asking{"PartOfWhatIsStale", "", {Action::revalidate, Forward::stale, true}, false, false},
        Asking{"Reloaded",
               "Cache-Control: no-cache\r\n",
               {Action::fetch, Forward::request},
               true,
               false},
        Asking{"ReloadedInPart",
               "Cache-Control: no-cache\r\nRange: bytes=0-9\r\n",
               {Action::fetch, Forward::request, true},
               false,
               false},
        Asking{"ReloadedByANeighbour",
               "Cache-Control: no-cache, only-if-cached\r\n",
               {Action::refuse, Forward::request},
               false,
               false},
        Asking{"Younger",
               "Cache-Control: max-age=5\r\n",
               {Action::fetch, Forward::request},
               false,
               false},
        Asking{"WithCredentials", "Authorization: x\r\n", kMissOfAll, false, false},
        Asking{"PartWithoutBlocks", "Range: bytes=0-9\r\n", kMissOfAPart, false, true},
        Asking{"PartsAreNotForSiblings", "Range: bytes=0-9,20-29\r\n", kMissOfAPart, false, false},
        Asking{"ConditionalPartIsNotForSiblings", "Range: bytes=0-9\r\nIf-Range: \"a\"\r\n",
               kMissOfAPart, false, false}),
    [](const auto& tested) { return tested.param.name; });

TEST(RangeOverride, LeavesOutAConditionWhoseAnswerMayLackItsHead_Rfc9110_15_3_7) {
  const client::ServeScene scene;
  Lookup lookup;
  lookup.verdict = kMissOfAPart;
  const policy::TextRequest plain("Range: bytes=10-19\r\n");
  EXPECT_FALSE(range_override(scene.fetching, *plain, lookup));
  const policy::TextRequest conditional("Range: bytes=10-19\r\nIf-Range: \"a\"\r\n");
  EXPECT_TRUE(range_override(scene.fetching, *conditional, lookup));
  for (const char* lines : {"Authorization: a b\r\n", "Signature-Input: sig1=(\"range\")\r\n"}) {
    const policy::TextRequest kept(std::string("Range: bytes=10-19\r\nIf-Range: \"a\"\r\n") +
                                   lines);
    EXPECT_FALSE(range_override(scene.fetching, *kept, lookup)) << lines;
  }
  lookup.verdict.action = Action::complete;
  EXPECT_FALSE(range_override(scene.fetching, *conditional, lookup));
}

TEST(RangeOverride, IsNoneForAnOriginThatRefusesOtherRangesThanTheClients) {
  client::ServeScene scene;
  Lookup lookup;
  lookup.verdict = kMissOfAPart;
  const policy::TextRequest conditional("Range: bytes=10-19\r\nIf-Range: \"a\"\r\n");
  const auto now = std::chrono::steady_clock::now();
  auto& refusals = scene.upstream.range_refusals;
  refusals.note_refused("a.test", now);
  EXPECT_TRUE(range_override(scene.fetching, *conditional, lookup));
  refusals.record_granted("a.test", now);
  EXPECT_FALSE(range_override(scene.fetching, *conditional, lookup));
}

}  // namespace
}  // namespace proxy::fetching
