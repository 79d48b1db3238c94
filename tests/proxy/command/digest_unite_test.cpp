#include "proxy/command/digest.hpp"

#include <sys/stat.h>

#include "tests/proxy/command/digest_invocation.hpp"

namespace proxy::command {
namespace {

TEST(Union, ClaimsWhatAnyOfThemClaims) {
  const TemporaryDirectory directory;
  std::vector<std::string> arguments{"union", "--json", "-o", directory / "all"};
  std::string members;
  for (const char* name : {"a", "b", "c"}) {
    const std::string urls = numbered_urls(name, 300);
    members += urls;
    run_digest({"build", "--capacity", "1000", "-o", directory / name}, urls);
    arguments.push_back(directory / name);
  }
  const Json made = json_of(run_digest(arguments));
  EXPECT_EQ(made.at("entries"), nullptr);
  EXPECT_NEAR(made.at("estimated_entries").get<double>(), 900, 30);
  EXPECT_EQ(run_digest({"query", directory / "all"}, members).out, members);
  EXPECT_LE(lines_in(run_digest({"query", directory / "all"}, numbered_urls("d", 1000)).out), 15U);
}

TEST(Union, SaysInWhatFiltersDiffer) {
  const TemporaryDirectory directory;
  run_digest({"build", "--capacity", "1000", "-o", directory / "a"}, numbered_urls("a", 3));
  run_digest({"build", "--capacity", "2000", "-o", directory / "b"}, numbered_urls("b", 3));
  const Said said =
      run_digest({"union", directory / "a", directory / "b", "-o", directory / "all"});
  EXPECT_EQ(said.code, 2);
  EXPECT_TRUE(contains(said.err, "12000 bits and 8 hashes")) << said.err;
  EXPECT_TRUE(contains(said.err, "24000 bits and 8 hashes")) << said.err;
  EXPECT_FALSE(std::filesystem::exists(directory / "all"));
}

TEST(Union, TakesSquidsDigestsAndNeedsTwo) {
  const TemporaryDirectory directory;
  const std::string squid = FUZZ_CORPUS "/squid_digest/idle_squid";
  EXPECT_EQ(run_digest({"union", squid, squid, "-o", directory / "f"}).code, 0);
  EXPECT_EQ(json_of(run_digest({"info", "--json", directory / "f"})).at("bits_set"), 136);
  EXPECT_THROW(run_digest({"union", squid, "-o", directory / "g"}), CLI::ParseError);
}

}  // namespace
}  // namespace proxy::command
