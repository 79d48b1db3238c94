#include "proxy/blocks/fetch_run.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/blocks/block_scene.hpp"

namespace proxy::blocks {
namespace {

using namespace std::chrono_literals;
using How = RunEnd::How;

// The blocks 1 and 2 are fetched from an origin that answers so.
struct FromOriginCase {
  const char* claim;
  Answers answers;
  How how;
  std::string stored;
  std::string questions = "1048576-3145727";
  std::string lines = "Range: bytes=1048576-3145727\r\n";  // of the client
  bool early = false;
  bool erased = false;  // the object, since it is outdated
};

void expect_answers(const std::vector<FromOriginCase>& rows) {
  for (const auto& row : rows) {
    SCOPED_TRACE(row.claim);
    BlockScene scene(row.answers);
    const auto client = scene.asks(row.lines);
    RunPlan plan{.blocks = {1, 2}, .early = row.early};
    plan.also_wanted = [] { return true; };
    const auto job = scene.job_for(*client, std::move(plan));
    BlockRuns::Ending ending(scene.runs, job.run);
    ending.end = support::run(scene.io, fetch_from_origin(scene.fetching, job, std::nullopt));
    EXPECT_EQ(ending.end.how, row.how);
    EXPECT_EQ(scene.stored(), row.stored);
    EXPECT_EQ(scene.questions(), row.questions);
    EXPECT_EQ(scene.entry() == nullptr, row.erased);
    EXPECT_EQ(job.run->refused(), row.how == How::refused);
    EXPECT_EQ(job.run->declined(), row.how == How::declined);
  }
}

TEST(RunFromOrigin, StoresTheBlocksOfTheRange) {
  expect_answers({
      {"the origin grants it", {answers::part()}, How::finished, "12"},
      {"the origin sends the whole for the part", {answers::whole()}, How::finished, "0123"},
      {"the answer states its fields anew",
       {answers::part(answers::fields("\"v1\"", "max-age=600"))},
       How::finished,
       "12"},
  });
}

TEST(RunFromOrigin, IsRefusedWhereTheAnswerIsNotTheObject) {
  const auto other_tag = answers::part(answers::fields("\"v2\""));
  const auto no_store = answers::part(answers::fields("\"v1\"", "no-store"));
  expect_answers({
      {.claim = "it has another version",
       .answers = {other_tag},
       .how = How::refused,
       .stored = "",
       .erased = true},
      {.claim = "it is gone",
       .answers = {answers::status(404)},
       .how = How::refused,
       .stored = "",
       .erased = true},
      {.claim = "it has become shorter",
       .answers = {answers::status(416)},
       .how = How::refused,
       .stored = "",
       .erased = true},
      {.claim = "it may not be stored any more",
       .answers = {no_store},
       .how = How::refused,
       .stored = "",
       .erased = true},
      {.claim = "the answer to one client's credentials says nothing of the object",
       .answers = {other_tag},
       .how = How::refused,
       .stored = "",
       .lines = "Authorization: Basic eDp5\r\nRange: bytes=1048576-3145727\r\n"},
      {.claim = "the origin is in trouble",
       .answers = {answers::status(503)},
       .how = How::refused,
       .stored = ""},
  });
}

TEST(RunFromOrigin, AsksTheClientsOwnQuestionWhereTheRangeIsRefused) {
  expect_answers({
      {.claim = "the client wants all",
       .answers = {answers::status(403), answers::whole()},
       .how = How::finished,
       .stored = "0123",
       .questions = "1048576-3145727; all",
       .lines = ""},
      {.claim = "the client wants a part, which would be refused, too",
       .answers = {answers::status(403)},
       .how = How::refused,
       .stored = ""},
      {.claim = "an early run leaves it to the run before",
       .answers = {answers::status(403)},
       .how = How::declined,
       .stored = "",
       .lines = "",
       .early = true},
      {.claim = "an early run does not read the whole beside the run before",
       .answers = {answers::whole()},
       .how = How::declined,
       .stored = "",
       .lines = "",
       .early = true},
      {.claim = "the client's own question is refused, too",
       .answers = {answers::status(403), answers::status(403)},
       .how = How::refused,
       .stored = "",
       .questions = "1048576-3145727; all",
       .lines = ""},
  });
}

TEST(RunFromOrigin, RecordsAnOriginThatRefusesRangesOnlyIfItGrantsTheWhole) {
  const struct {
    Answers answers;
    bool refuses;
  } rows[] = {{{answers::status(403), answers::whole()}, true},
              {{answers::status(403), answers::status(403)}, false},
              {{answers::part()}, false}};
  for (const auto& row : rows) {
    BlockScene scene(row.answers);
    const auto client = scene.asks();
    RunPlan plan{.blocks = {1, 2}};
    plan.also_wanted = [] { return true; };
    const auto job = scene.job_for(*client, std::move(plan));
    BlockRuns::Ending ending(scene.runs, job.run);
    ending.end = support::run(scene.io, fetch_from_origin(scene.fetching, job, std::nullopt));
    EXPECT_EQ(scene.upstream.range_refusals.has((**client).target.authority(), scene.now()),
              row.refuses);
  }
}

TEST(RunFromOrigin, ContinuesWhereAResponseWasCutIfThatIsWorthARequest) {
  expect_answers({
      {.claim = "within a block: from the next byte on",
       .answers = {answers::cut_after(100'000), answers::part()},
       .how = How::finished,
       .stored = "12",
       .questions = "1048576-3145727; 1148576-3145727"},
      {.claim = "in the second block",
       .answers = {answers::cut_after(cache::kBlockBytes + 5), answers::part()},
       .how = How::finished,
       .stored = "12",
       .questions = "1048576-3145727; 2097157-3145727"},
      {.claim = "twice",
       .answers = {answers::cut_after(100'000), answers::cut_after(100'000), answers::part()},
       .how = How::finished,
       .stored = "12",
       .questions = "1048576-3145727; 1148576-3145727; 1248576-3145727"},
      {.claim = "it brought too little",
       .answers = {answers::cut_after(1'000), answers::part()},
       .how = How::failed,
       .stored = ""},
      {.claim = "the next one brings too little",
       .answers = {answers::cut_after(100'000), answers::cut_after(1'000), answers::part()},
       .how = How::failed,
       .stored = "",
       .questions = "1048576-3145727; 1148576-3145727"},
      {.claim = "an early run leaves the rest to the run before",
       .answers = {answers::cut_after(100'000), answers::part()},
       .how = How::failed,
       .stored = "",
       .early = true},
      {.claim = "the rest is of another version",
       .answers = {answers::cut_after(100'000), answers::part(answers::fields("\"v2\""))},
       .how = How::refused,
       .stored = "",
       .questions = "1048576-3145727; 1148576-3145727",
       .erased = true},
      {.claim = "the whole comes in place of the rest",
       .answers = {answers::cut_after(100'000), answers::whole()},
       .how = How::finished,
       .stored = "0123",
       .questions = "1048576-3145727; 1148576-3145727"},
  });
}

TEST(StartedRun, EndsWithItsReaders) {
  BlockScene scene({answers::part()});
  const auto client = scene.asks();
  auto taken = scene.runs.take(
      {scene.object, 1, 2}, [](std::uint32_t) { return false; }, scene.io.get_executor());
  ASSERT_TRUE(taken.begun);
  RunJob job{taken.use.run(), scene.url_key, std::make_unique<policy::OwnedRequest>(**client),
             std::make_shared<tiers::DiskPatience>(scene.now())};
  start_run(scene.fetching, std::move(job));
  std::uint64_t read = 0;
  for (;;) {
    const auto pieces = support::run(scene.io, taken.block->next());
    ASSERT_TRUE(pieces);
    if (pieces->empty()) break;
    for (const auto& piece : *pieces) read += piece.size;
  }
  EXPECT_EQ(read, cache::kBlockBytes);
  scene.work(30ms);
  EXPECT_EQ(scene.stored(), "12") << "its second block is near";
  EXPECT_EQ(taken.use.run()->ask(2), BlockRun::Asked::not_supplied) << "it has ended";
}

}  // namespace
}  // namespace proxy::blocks
