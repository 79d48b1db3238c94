#include "proxy/fetching/lookup.hpp"

#include <gtest/gtest.h>

#include "tests/peers/samples.hpp"
#include "tests/proxy/client/serve_scene.hpp"
#include "tests/proxy/fetching/fetch_scene.hpp"

namespace proxy::fetching {
namespace {

using cache::Action;
using cache::Verdict;
using http::Forward;

const Verdict kMissOfAPart{Action::fetch, Forward::uri_miss, true};

TEST(AllowedFor, FollowsWhatTheFillsAndTheCountsRemember) {
  auto settings = client::quiet_settings();
  settings.peers.push_back(peers::samples::peer("b", 3128));
  client::ServeScene scene(std::move(settings));
  policy::TextRequest request("");
  request.parsed->pin(scene.policy);
  Lookup lookup;
  const auto allowed = [&] { return allowed_for(scene.fetching, *request, lookup); };
  EXPECT_TRUE(allowed().neighbours() && allowed().of_site && allowed().share);
  const auto now = scene.clock.steady();
  scene.fills.record_unshared(lookup.key, now);
  EXPECT_TRUE(allowed().neighbours() && !allowed().of_site && !allowed().share);
  scene.fills.invalidate(lookup.key, now);
  EXPECT_EQ(allowed().only_origin, sources::OnlyOrigin::changed_lately);
}

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

// From the answers of fills: then the site is not asked about it any more.
TEST(AllowedFor, LearnsThatAPathIsUnshared) {
  struct Row {
    const char* claim;
    support::Fields fields;
    int status = 200;
    std::string lines = {};
    bool unshared = true;
  };
  const std::string much(5000, 'x');
  for (const auto& row :
       {Row{"no cache may store it", {{"Cache-Control", "no-store"}}},
        Row{"it is one client's", {{"Cache-Control", "max-age=60"}, {"Set-Cookie", "a=b"}}},
        Row{.claim = "it lasts", .fields = {{"Cache-Control", "max-age=60"}}, .unshared = false},
        Row{.claim = "an error says nothing", .fields = {}, .status = 500, .unshared = false},
        Row{.claim = "nor does a part",
        .fields = {{"Cache-Control", "no-store"}},
        .lines = "Range: bytes=0-1\r\n",
        .unshared = false},
        Row{.claim = "nor what the request's own field keeps from being stored",
        .fields = {{"Cache-Control", "max-age=60"}, {"Vary", "A"}},
        .lines = "A: " + much + "\r\n",
        .unshared = false}}) {
    FetchScene scene;
    scene.sources.has_neighbours = true;
    scene.origin.on("/x", Reply(row.status, row.fields).body("hello"));
    for (int i = 0; i < 3; ++i) {
      auto job = scene.job(row.lines);
      job.allowed.share = true;
      scene.run(std::move(job));
    }
    EXPECT_EQ(scene.unshared_paths.has(scene.url(), scene.clock.steady()), row.unshared)
        << row.claim;
  }
}

}  // namespace
}  // namespace proxy::fetching
