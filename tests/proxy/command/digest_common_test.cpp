#include "proxy/command/digest.hpp"

#include <cmath>
#include <random>
#include <set>

#include "proxy/command/line_sets.hpp"
#include "tests/proxy/command/digest_invocation.hpp"

namespace proxy::command {
namespace {

using Texts = std::vector<std::string>;

std::string joined(const Texts& lines) {
  std::string text;
  for (const auto& line : lines) (text += line) += '\n';
  return text;
}

// The expected output of `common --exact`, computed without a memory limit.
Texts intersection_of(const std::vector<Texts>& files) {
  std::vector<std::set<std::string>> others;
  for (const auto& file : files) others.emplace_back(file.begin(), file.end());
  std::set<std::string> given;
  Texts common;
  for (const auto& line : files.front()) {
    const bool everywhere = std::all_of(others.begin(), others.end(), [&line](const auto& other) {
      return other.count(line) == 1;
    });
    if (everywhere && given.insert(line).second) common.push_back(line);
  }
  return common;
}

Texts random_file(std::mt19937& random, std::size_t lines, unsigned range) {
  Texts file;
  for (std::size_t i = 0; i < lines; ++i) {
    const auto number = static_cast<unsigned>(random() % range);
    file.push_back(std::string(number % 90, 'x') + std::to_string(number));
  }
  return file;
}

class Common : public ::testing::Test {
 protected:
  Said run(const std::vector<Texts>& files, Texts arguments) {
    arguments.insert(arguments.begin(), {"common", "--json"});
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string path = directory_ / std::to_string(i);
      write_file(path, joined(files[i]));
      arguments.push_back(path);
    }
    return run_digest(arguments);
  }

  const TemporaryDirectory directory_;
};

TEST_F(Common, PrintsEachCommonLineOnceInTheOrderOfTheFirstFile) {
  const std::vector<Texts> files{
      {"d", "b", "a", "b", "", "only", "a"}, {"a", "", "b", "b", "c", "d"}, {"", "a", "b", "d"}};
  for (const Texts& arguments : {Texts{}, Texts{"--exact"}}) {
    EXPECT_EQ(run(files, arguments).out, "d\nb\na\n\n");
    EXPECT_EQ(run({files[1], files[0]}, arguments).out, "a\n\nb\nd\n");
    EXPECT_EQ(run({files[0], files[0]}, arguments).out, "d\nb\na\n\nonly\n");
    EXPECT_EQ(run({files[0], {}}, arguments).out, "");
    EXPECT_EQ(run({{}, files[0]}, arguments).out, "");
  }
}

TEST_F(Common, IsExactlyTheIntersectionOfRandomFiles) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 30; ++trial) {
    std::vector<Texts> files;
    const std::size_t count = 2 + random() % 3;
    for (std::size_t i = 0; i < count; ++i) {
      files.push_back(random_file(random, random() % 3000, 2000));
    }
    EXPECT_EQ(run(files, {"--exact"}).out, joined(intersection_of(files))) << trial;
  }
}

// The common lines alone take about as much memory as filters and lines together may: several
// parts.
TEST_F(Common, IsRightInLittleMemoryToo) {
  std::mt19937 random(2);
  const std::vector<Texts> files{random_file(random, 30'000, 25'000),
                                 random_file(random, 40'000, 25'000),
                                 random_file(random, 50'000, 25'000)};
  const std::string expected = joined(intersection_of(files));
  const Said exact = run(files, {"--exact", "--memory", "1MiB"});
  EXPECT_TRUE(exact.out == expected);
  EXPECT_GT(Json::parse(exact.err).at("parts"), 1);
  const Said filtered = run(files, {"--fpr", "0.3", "--memory", "1MiB"});
  EXPECT_EQ(filtered.code, 0) << filtered.err;
  EXPECT_GT(Json::parse(filtered.err).at("parts"), 1);
  EXPECT_GE(filtered.out.size(), expected.size());
}

TEST_F(Common, MissesNothingAndAddsAsLittleAsItSays) {
  constexpr int kLines = 50'000;
  Texts a;
  Texts b;
  for (int i = 0; i < kLines; ++i) {
    a.push_back("a" + std::to_string(i));
    b.push_back((i % 10 == 0 ? "a" : "b") + std::to_string(i));
  }
  const Texts expected = intersection_of({a, b});
  // The salt differs from run to run, so the errors vary: this is five standard deviations above.
  const double mean_errors = 0.01 * static_cast<double>(kLines - expected.size());
  const double most_errors = mean_errors + 5 * std::sqrt(mean_errors);
  for (const auto& files : {std::vector{a, b}, std::vector{a, b, b}}) {
    const Said said = run(files, {"--fpr", "0.01"});
    EXPECT_LE(static_cast<double>(lines_in(said.out) - expected.size()), most_errors);
    EXPECT_EQ(Json::parse(said.err).at("false_positive_rate_bound"), 0.01);
    Texts printed;
    std::istringstream lines(said.out);
    for (std::string line; std::getline(lines, line);) printed.push_back(line);
    EXPECT_EQ(intersection_of({printed, b}), expected);
    EXPECT_EQ(std::set<std::string>(printed.begin(), printed.end()).size(), printed.size());
  }
}

TEST_F(Common, SaysWhatTheRateNeedsThatDoesNotFit) {
  const Texts many(400'000, "x");
  const Said said = run({many, many}, {"--fpr", "0.0001", "--memory", "1MiB"});
  EXPECT_EQ(said.code, 2);
  EXPECT_TRUE(contains(said.err, "--exact")) << said.err;
  EXPECT_EQ(run({many, many}, {"--memory", "1KiB"}).code, 2);
  EXPECT_THROW(run({many, many}, {"--memory", "much"}), CLI::ParseError);
}

TEST_F(Common, NeedsFilesThatCanBeReadTwice) {
  write_file(directory_ / "a", "a\n");
  const Said said = run_digest({"common", directory_ / "a", "-"}, "a\n");
  EXPECT_EQ(said.code, 2);
  EXPECT_TRUE(contains(said.err, "standard input: is no ordinary file")) << said.err;
  EXPECT_THROW(run_digest({"common", directory_ / "a"}), CLI::ParseError);
}

TEST(CandidateLines, KeepTheirOrderAndTheirBudget) {
  constexpr std::size_t kBudget = std::size_t{128} << 10;
  CandidateLines candidates(kBudget);
  std::size_t bytes = 0;
  std::uint64_t held = 0;
  const auto line_of = [](std::uint64_t i) { return "line " + std::to_string(i); };
  // Some hashes collide in the upper bits, in the lower bits, or in all.
  const auto add = [&candidates](const std::string& line, std::uint64_t hash) {
    return candidates.add(line, hash) == Added::yes;
  };
  for (; add(line_of(held), held % 500 << 60 | held % 300); ++held) {
    bytes += line_of(held).size();
  }
  EXPECT_GT(bytes, kBudget / 10);
  EXPECT_LT(bytes, kBudget);
  EXPECT_EQ(candidates.size(), held);
  EXPECT_TRUE(add(line_of(7), 7 % 500ULL << 60 | 7));
  for (std::uint64_t i = 0; i < held; i += 2) {
    candidates.confirm(line_of(i), i % 500 << 60 | i % 300, 1);
    if (i % 4 == 0) candidates.confirm(line_of(i), i % 500 << 60 | i % 300, 2);
    if (i % 8 == 0) candidates.strike(line_of(i), i % 500 << 60 | i % 300);
  }
  candidates.confirm(line_of(1), 1ULL << 60 | 1, 2);  // not in round 1
  std::uint64_t expected = 4;
  candidates.each_confirmed(2, [&](std::string_view line) {
    EXPECT_EQ(line, line_of(expected));
    expected += 8;
    return true;
  });
  EXPECT_GE(expected, held);
}

TEST(CandidateLines, HaveRoomForTheLongestLine) {
  CandidateLines candidates(std::size_t{128} << 10);
  EXPECT_EQ(candidates.add(std::string(std::size_t{64} << 10, 'x'), 1), Added::yes);
  EXPECT_EQ(candidates.add(std::string(std::size_t{64} << 10, 'y'), 2), Added::no_room);
}

TEST(CommonMemory, IsNoMoreThanTheFilesNeed) {
  const TemporaryDirectory directory;
  write_file(directory / "a", "1\n2\n\n3\n");
  write_file(directory / "b", "3\n\n2\n");
  for (const char* memory : {"1TiB", "1048576TiB"}) {
    const Said said = run_digest(
        {"common", "-q", "--exact", "--memory", memory, directory / "a", directory / "b"});
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_EQ(said.out, "2\n\n3\n") << memory;
  }
}

}  // namespace
}  // namespace proxy::command
