#include "proxy/command/digest.hpp"

#include <fcntl.h>

#include <array>
#include <thread>

#include "proxy/command/line_sets.hpp"
#include "tests/proxy/command/digest_invocation.hpp"
#include "tests/support/await.hpp"

namespace proxy::command {
namespace {

std::string numbers(int from, int to) {
  std::string lines;
  for (int i = from; i < to; ++i) lines += std::to_string(i) + '\n';
  return lines;
}

digest::Key key_of_number(std::uint64_t number) {
  return line_key({1, 2, 3}, std::to_string(number));
}

TEST(Dedup, PassesEachLineOnceInOrder) {
  const Said said = run_digest({"dedup", "--json"}, "b\na\r\n\nb\na\n\nc\nb");
  EXPECT_EQ(said.out, "b\na\n\nc\n");
  const Json told = Json::parse(said.err);
  EXPECT_EQ(told.at("lines"), 8);
  EXPECT_EQ(told.at("passed_on"), 4);
  EXPECT_EQ(told.at("dropped"), 4);
  EXPECT_EQ(run_digest({"dedup", "-q"}, "a\na\n").err, "");
}

TEST(Dedup, ReadsFilesOneAfterTheOther) {
  const TemporaryDirectory directory;
  write_file(directory / "a", "1\n2");
  write_file(directory / "b", "2\n3\n");
  EXPECT_EQ(run_digest({"dedup", directory / "a", "-", directory / "b"}, "3\n4\n").out,
            "1\n2\n3\n4\n");
}

// The report at the end.
Json report_in(const Said& said) {
  const std::string_view err = said.err;
  return Json::parse(err.substr(err.rfind('\n', err.size() - 2) + 1));
}

struct Mode {
  const char* name;
  std::vector<std::string> arguments;
};

class DedupModes : public ::testing::TestWithParam<Mode> {};

// All 200,000 lines are new; at most the share that the rate allows is dropped.
TEST_P(DedupModes, LosesNewLinesAsRarelyAsTheySay) {
  constexpr int kLines = 200'000;
  std::vector<std::string> arguments{"dedup", "--json", "--fpr", "0.01"};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  const Said said = run_digest(arguments, numbered_urls("", kLines));
  EXPECT_EQ(said.code, 0) << said.err;
  const double lost = kLines - static_cast<double>(lines_in(said.out));
  EXPECT_LE(lost, 0.01 * kLines);
  EXPECT_LE(report_in(said).at("false_positive_rate"), 0.0103);
  EXPECT_GT(report_in(said).at("filter_bytes"), 0);
}

INSTANTIATE_TEST_SUITE_P(Dedup, DedupModes,
                         ::testing::Values(Mode{"Growing", {}},
                                           Mode{"Bounded", {"--capacity", "200000"}},
                                           Mode{"Window", {"--window", "20000"}}),
                         [](const auto& of) { return of.param.name; });

TEST(Dedup, StopsWhereItsCapacityEnds) {
  const Said said = run_digest({"dedup", "--capacity", "100", "--fpr", "1e-6"}, numbers(0, 200));
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(said.out, numbers(0, 100));
  EXPECT_TRUE(contains(said.err, "line 101")) << said.err;
  EXPECT_TRUE(contains(said.err, "capacity of 100")) << said.err;
  EXPECT_EQ(run_digest({"dedup", "--capacity", "100"}, numbers(0, 95) + numbers(0, 95)).code, 0);
}

TEST(Dedup, SaysWhatItsWindowForgot) {
  const Said said = run_digest({"dedup", "--window", "1000", "--json"}, numbers(0, 10'500));
  const Json told = report_in(said);
  EXPECT_EQ(told.at("remembers"), "the last 1000 to 2000 distinct lines");
  EXPECT_NEAR(told.at("forgotten").get<double>(), 9000, 20);
  EXPECT_TRUE(contains(run_digest({"dedup", "--window", "10"}, "a\n").err, "forgotten"));
}

TEST(Dedup, SaysWhatItsWindowCostsBeforeAnythingIsRead) {
  std::array<int, 2> in{};
  ASSERT_EQ(::pipe2(in.data(), O_CLOEXEC), 0);
  const StreamFile out;
  const StreamFile err;
  std::thread running([&] {
    run_digest_on({"dedup", "--window", "1000", "--json"},
                  {in[0], out.descriptor(), err.descriptor()});
  });
  EXPECT_TRUE(support::await([&] { return contains(err.content(), "}\n"); }));
  const Json told = Json::parse(err.content());
  EXPECT_EQ(told.at("remembers"), "the last 1000 to 2000 distinct lines");
  EXPECT_EQ(told.at("false_positive_rate_bound"), 0.001);
  EXPECT_GT(told.at("filter_bytes"), 0);
  ::close(in[1]);
  running.join();
  ::close(in[0]);
  EXPECT_EQ(lines_in(err.content()), 2U);
  EXPECT_EQ(run_digest({"dedup", "--window", "10", "-q"}, "a\n").err, "");
}

TEST(WindowSeenSet, RemembersTheLastDistinctKeysAndForgetsThoseTwiceAsFarBack) {
  constexpr std::uint64_t kWindow = 50;
  auto seen = *WindowSeenSet::create(kWindow, 1e-9);
  for (std::uint64_t i = 0; i < 20 * kWindow; ++i) {
    EXPECT_TRUE(*seen.insert(key_of_number(i))) << i;
    if (i + 1 < kWindow) continue;
    auto asked = seen;  // insert() changes the set
    EXPECT_FALSE(*asked.insert(key_of_number(i + 1 - kWindow))) << i;
    if (i < 2 * kWindow) continue;
    asked = seen;
    EXPECT_TRUE(*asked.insert(key_of_number(i - 2 * kWindow))) << i;
  }
}

TEST(WindowSeenSet, NeverForgetsWhatKeepsComing) {
  auto seen = *WindowSeenSet::create(100, 1e-9);
  EXPECT_TRUE(*seen.insert(key_of_number(1)));
  for (std::uint64_t i = 10; i < 5000; ++i) {
    (void)seen.insert(key_of_number(i));
    if (i % 90 == 0) {
      EXPECT_FALSE(*seen.insert(key_of_number(1))) << i;
    }
  }
  EXPECT_GT(seen.forgotten(), 4000U);
}

TEST(Dedup, PassesLinesOnWhileItWaitsForMore) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  ASSERT_EQ(::pipe2(in.data(), O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(out.data(), O_CLOEXEC), 0);
  const StreamFile err;
  std::thread running([&] { run_digest_on({"dedup"}, {in[0], out[1], err.descriptor()}); });
  std::array<char, 16> got{};
  for (const std::string_view line : {"first\n", "again\n"}) {
    EXPECT_EQ(::write(in[1], line.data(), line.size()), 6);
    EXPECT_EQ(::read(out[0], got.data(), got.size()), 6);
    EXPECT_EQ(std::string_view(got.data(), 6), line);
  }
  ::close(in[1]);
  running.join();
  for (const int one : {in[0], out[0], out[1]}) ::close(one);
}

TEST(Dedup, EndsQuietlyWhenNobodyReads) {
  std::array<int, 2> out{};
  ASSERT_EQ(::pipe2(out.data(), O_CLOEXEC), 0);
  ::close(out[0]);
  const StreamFile in(numbers(0, 100'000));
  const StreamFile err;
  EXPECT_EQ(run_digest_on({"dedup", "-q"}, {in.descriptor(), out[1], err.descriptor()}), 0);
  EXPECT_EQ(err.content(), "");
  ::close(out[1]);
}

TEST(Dedup, SaysThatTheDiskIsFull) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  const StreamFile in("a\n");
  const StreamFile err;
  EXPECT_EQ(run_digest_on({"dedup"}, {in.descriptor(), full, err.descriptor()}), 2);
  EXPECT_TRUE(contains(err.content(), "No space left on device")) << err.content();
  ::close(full);
}

TEST(Dedup, RefusesADirectory) {
  const TemporaryDirectory directory;
  const Said said = run_digest({"dedup", directory.path()});
  EXPECT_EQ(said.code, 2);
  EXPECT_TRUE(contains(said.err, "Is a directory")) << said.err;
}

}  // namespace
}  // namespace proxy::command
