#include "proxy/blocks/run_answer.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/blocks/block_scene.hpp"

namespace proxy::blocks {
namespace {

// The stored object after an answer of the origin to a run's request. The object is fresh for 60 s.
enum class After : std::uint8_t { same, stricter, erased };

struct KeptCase {
  const char* claim;
  support::Fields answer;
  bool kept;
  After after;
  std::string lines = "";  // of the client
};

class RunAnswer : public testing::Test {
 protected:
  // Asks the origin for the block 1.
  void ask(BlockScene& scene, const std::string& lines = "") {
    client_ = scene.asks(lines);
    job_ = scene.job_for(*client_, {.blocks = {1, 1}});
    answer_.emplace(rest_at_origin(scene.fetching, job_, job_.run->rest()));
    ASSERT_TRUE(support::run(scene.io, answer_->ask()));
  }
  void expect(const std::vector<KeptCase>& rows) {
    for (const auto& row : rows) {
      SCOPED_TRACE(row.claim);
      BlockScene scene({answers::part(row.answer)});
      const auto before = scene.entry();
      ask(scene, row.lines);
      EXPECT_EQ(may_be_kept(scene.cache, job_, *answer_), row.kept);
      const auto after = scene.entry();
      EXPECT_EQ(after == nullptr, row.after == After::erased);
      EXPECT_EQ(after == before, row.after == After::same);
      if (row.after == After::stricter) {
        EXPECT_TRUE(after->object() == before->object()) << "its blocks are still good";
        EXPECT_TRUE(after->no_cache || after->never_stale ||
                    after->fresh_until() < before->fresh_until());
      }
      drop();
    }
  }
  void drop() {
    answer_.reset();
    job_ = {};
  }

  std::unique_ptr<policy::TextRequest> client_;
  RunJob job_;
  std::optional<sources::Attempt> answer_;
};

TEST_F(RunAnswer, LeavesAnObjectThatIsAsStrict) {
  const auto as = [](const char* control) { return answers::fields("\"v1\"", control); };
  expect({
      {"the same fields", as("max-age=60"), true, After::same},
      {"fresh for longer", as("max-age=600"), true, After::same},
      {"fresh for a second less, which rounding does", as("max-age=59"), true, After::same},
      {"no rule for caches of one user", as("max-age=60, must-understand"), true, After::same},
  });
}

TEST_F(RunAnswer, MakesTheObjectStricter) {
  const auto as = [](const char* control) { return answers::fields("\"v1\"", control); };
  expect({
      {"fresh for less long", as("max-age=10"), true, After::stricter},
      {"to be validated each time", as("max-age=60, no-cache"), true, After::stricter},
      {"never to be served stale", as("max-age=60, must-revalidate"), true, After::stricter},
  });
}

TEST_F(RunAnswer, ErasesAnObjectThatMayNotBeStoredAnyMore) {
  const auto as = [](const char* control) { return answers::fields("\"v1\"", control); };
  expect({
      {"no-store", as("no-store"), false, After::erased},
      {"for one user alone", as("private"), false, After::erased},
      {.claim = "the request forbids it, not the answer",
       .answer = as("max-age=60"),
       .kept = false,
       .after = After::same,
       .lines = "Cache-Control: no-store\r\n"},
      {.claim = "the answer is about one client's credentials",
       .answer = as("no-store"),
       .kept = false,
       .after = After::same,
       .lines = "Authorization: Basic eDp5\r\n"},
  });
}

TEST_F(RunAnswer, LeavesANewerObjectAlone) {
  BlockScene scene({answers::part(answers::fields("\"v1\"", "no-store"))});
  ask(scene);
  const cache::Request asked;
  const cache::Response response{std::string(kObjectFields)};
  const cache::Received received{scene.url, asked.head.fields, response.head, scene.times(), "us"};
  const auto newer = cache::object_entry(scene.budget, received, {.version = 2}, kObjectBytes);
  ASSERT_TRUE(scene.cache.store(scene.url_key, newer, scene.now(), {scene.entry()}));
  EXPECT_FALSE(may_be_kept(scene.cache, job_, *answer_));
  EXPECT_EQ(scene.entry(), newer) << "the answer speaks of another one";
  drop();
}

TEST_F(RunAnswer, SaysWhetherItHasTheRestOfTheRun) {
  const struct {
    support::ScriptedOrigin::Answer answer;
    bool has;
  } rows[] = {{answers::part(), true},
              {answers::whole(), true},
              {answers::part(answers::fields("\"v2\"")), false},
              {answers::status(403), false}};
  for (const auto& row : rows) {
    BlockScene scene({row.answer});
    ask(scene);
    EXPECT_EQ(has_rest(*answer_, job_, job_.run->rest()), row.has);
    drop();
  }
}

TEST(RunEnds, TellReadersOfFailuresAlone) {
  constexpr upstream::Failure cut{
      upstream::Failure::Where::upstream, upstream::Failure::What::cut, {}};
  const struct {
    RunEnd end;
    upstream::Failure::What told;
  } rows[] = {{{RunEnd::How::finished}, upstream::Failure::What::abandoned},
              {{RunEnd::How::unwanted}, upstream::Failure::What::abandoned},
              {{RunEnd::How::declined}, upstream::Failure::What::abandoned},
              {{RunEnd::How::refused, cut}, upstream::Failure::What::cut},
              {{RunEnd::How::failed, cut}, upstream::Failure::What::cut}};
  for (const auto& row : rows) EXPECT_EQ(row.end.for_readers().what, row.told);
  EXPECT_EQ(RunEnd::after(cut).how, RunEnd::How::failed);
  EXPECT_EQ(RunEnd::after(boost::system::in_place_value).how, RunEnd::How::finished);
  const upstream::Failure left{
      upstream::Failure::Where::us, upstream::Failure::What::abandoned, {}};
  EXPECT_EQ(RunEnd::after(left).how, RunEnd::How::unwanted);
}

}  // namespace
}  // namespace proxy::blocks
