#include "proxy/command/digest.hpp"

#include "digest/file_format.hpp"
#include "tests/proxy/command/digest_invocation.hpp"

namespace proxy::command {
namespace {

struct Sizing {
  const char* name;
  std::vector<std::string> arguments;
  double bits_per_entry;
  int hashes;
  double rate;  // at most, when full
};

class BuildSizes : public ::testing::TestWithParam<Sizing> {};

TEST_P(BuildSizes, AndNeverForgetsAUrl) {
  constexpr int kUrls = 20'000;
  const TemporaryDirectory directory;
  const std::string members = numbered_urls("in/", kUrls);
  write_file(directory / "urls", members);
  std::vector<std::string> arguments{"build", directory / "urls", "-o", directory / "f", "--json"};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  const Json made = json_of(run_digest(arguments));
  EXPECT_EQ(made.at("entries"), kUrls);
  EXPECT_EQ(made.at("hashes"), GetParam().hashes);
  EXPECT_NEAR(made.at("bits").get<double>() / kUrls, GetParam().bits_per_entry, 0.01);
  EXPECT_LE(made.at("false_positive_rate").get<double>(), GetParam().rate * 1.05);
  EXPECT_EQ(run_digest({"query", directory / "f"}, members).out, members);
  const Said others = run_digest({"query", directory / "f"}, numbered_urls("out/", kUrls));
  EXPECT_LE(static_cast<double>(lines_in(others.out)),
            kUrls * GetParam().rate + 4 * std::sqrt(kUrls * GetParam().rate));
}

INSTANTIATE_TEST_SUITE_P(
    Build, BuildSizes,
    ::testing::Values(
        Sizing{"Default", {}, 12, 8, 0.00314}, Sizing{"ByRate", {"--fpr", "0.01"}, 9.59, 7, 0.01},
        Sizing{"ByRateAndHashes", {"--fpr", "0.01", "--hashes", "3"}, 12.36, 3, 0.01},
        Sizing{"ByBits", {"--bits-per-entry", "8"}, 8, 6, 0.0216},
        Sizing{"ByBitsAndHashes", {"--bits-per-entry", "8", "--hashes", "4"}, 8, 4, 0.024}),
    [](const auto& of) { return of.param.name; });

TEST(Build, MakesNoFilterTooSmallForItsRate) {
  const TemporaryDirectory directory;
  for (const char* rate : {"0.001", "0.1"}) {
    const std::string file = directory / rate;
    const std::string urls = numbered_urls("in/", 3);
    EXPECT_EQ(json_of(run_digest({"build", "--fpr", rate, "--json", "-o", file}, urls)).at("bits"),
              4096);
    EXPECT_LE(lines_in(run_digest({"query", file}, numbered_urls("out/", 5'000)).out),
              std::stod(rate) * 5'000 + 4 * std::sqrt(std::stod(rate) * 5'000));
  }
}

TEST(Build, MakesTheSameOfAPipeAsOfFiles) {
  const TemporaryDirectory directory;
  const std::string a = numbered_urls("a", 500);
  const std::string b = numbered_urls("b", 700) + '\n';
  write_file(directory / "a", a);
  write_file(directory / "b", b);
  EXPECT_EQ(run_digest({"build", directory / "a", directory / "b", "-o", directory / "1"}).code, 0);
  EXPECT_EQ(run_digest({"build", "-o", directory / "2"}, a + b + numbered_urls("b", 1)).code, 0);
  EXPECT_EQ(read_file(directory / "1").size(), read_file(directory / "2").size());
  EXPECT_EQ(run_digest({"query", directory / "2"}, a + b).out, a + numbered_urls("b", 700));
}

TEST(Build, TakesUrlsAsTheProxyDoes) {
  const TemporaryDirectory directory;
  const std::string urls = "HTTP://Example.COM:80/x\r\nhttp://127.1/#top\n\n";
  ASSERT_EQ(run_digest({"build", "-o", directory / "f"}, urls).code, 0);
  const std::vector<std::string> ask{"query", directory / "f"};
  for (const char* url : {"http://example.com/x", "http://127.0.0.1/", "http://EXAMPLE.com./x"}) {
    EXPECT_EQ(run_digest({"query", directory / "f", url}).code, 0) << url;
  }
  EXPECT_EQ(run_digest({"query", directory / "f", "http://example.com/X"}).code, 1);
}

TEST(Build, NamesTheLineThatIsNoUrl) {
  const TemporaryDirectory directory;
  const Said said = run_digest({"build", "-o", directory / "f"}, "http://example.com/\nexample\n");
  EXPECT_EQ(said.code, 2);
  EXPECT_TRUE(contains(said.err, "standard input: line 2: \"example\"")) << said.err;
  EXPECT_TRUE(contains(said.err, "--verbatim")) << said.err;
  EXPECT_FALSE(std::filesystem::exists(directory / "f"));
  EXPECT_EQ(run_digest({"build", "--verbatim", "-o", directory / "f"}, "example\n").code, 0);
  EXPECT_EQ(run_digest({"query", "--verbatim", directory / "f", "example"}).code, 0);
}

TEST(Build, RefusesMoreThanItsCapacity) {
  const TemporaryDirectory directory;
  const std::vector<std::string> arguments{"build", "--capacity", "100", "-o", directory / "f"};
  const std::string urls = numbered_urls("", 100);
  EXPECT_EQ(run_digest(arguments, urls + urls).code, 0);
  auto again = arguments;
  again.back() = directory / "g";
  const Said said = run_digest(again, urls + urls + numbered_urls("more", 2));
  EXPECT_EQ(said.code, 2);
  EXPECT_TRUE(contains(said.err, "line 20")) << said.err;
  EXPECT_TRUE(contains(said.err, "--capacity")) << said.err;
  EXPECT_FALSE(std::filesystem::exists(directory / "g"));
}

TEST(Build, ReplacesAFileOnlyByForceAndLeavesNothingElseBehind) {
  const TemporaryDirectory directory;
  write_file(directory / "f", "precious");
  const Said refused = run_digest({"build", "-o", directory / "f"}, numbered_urls("", 3));
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "--force")) << refused.err;
  EXPECT_EQ(read_file(directory / "f"), "precious");
  EXPECT_EQ(run_digest({"build", "--force", "-o", directory / "f"}, numbered_urls("", 3)).code, 0);
  EXPECT_NE(read_file(directory / "f"), "precious");
  const std::filesystem::directory_iterator all(directory.path());
  EXPECT_EQ(std::distance(begin(all), end(all)), 1);
}

TEST(Build, SaysWhyItCannotWrite) {
  const Said said = run_digest({"build", "-o", "/nowhere/f"}, numbered_urls("", 3));
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(said.err, "hearsay digest build: /nowhere/f: No such file or directory\n");
}

TEST(Build, RefusesWhatNoFilterCanBe) {
  const TemporaryDirectory directory;
  const Said said = run_digest({"build", "--capacity", "1000000000", "-o", directory / "f"}, "");
  EXPECT_EQ(said.code, 2);
  EXPECT_TRUE(contains(said.err, "no filter can be made for 1000000000 entries")) << said.err;
  for (const char* rate : {"0", "1", "-1", "nan", "x"}) {
    EXPECT_THROW(run_digest({"build", "--fpr", rate, "-o", directory / "f"}), CLI::ParseError)
        << rate;
  }
}

TEST(Build, MakesAFilterOfNothing) {
  const TemporaryDirectory directory;
  EXPECT_EQ(json_of(run_digest({"build", "--json", "-o", directory / "f"})).at("entries"), 0);
  EXPECT_EQ(run_digest({"query", directory / "f", "http://example.com/"}).code, 1);
}

}  // namespace
}  // namespace proxy::command
