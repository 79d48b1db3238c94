// `hearsay digest` from a shell, on files and beside a running proxy.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "tests/scenario/scene.hpp"
#include "tests/support/child_process.hpp"

namespace scenario {
namespace {

// Runs the script with sh; "$H" is the program.
Outcome shell(const std::string& script, const TemporaryDirectory& directory) {
  return run_to_end({.arguments = {"/bin/sh", "-c", script},
                     .environment = {"H=" + hearsay_program()},
                     .directory = directory.path()});
}

TEST(DigestCommand, ListsItsSubcommandsAndExplainsThem) {
  const TemporaryDirectory directory;
  const Outcome outcome = shell("$H digest --help", directory);
  EXPECT_EQ(outcome.exit_code, 0);
  for (const std::string name : {"build", "query", "info", "union", "dedup", "common"}) {
    EXPECT_TRUE(contains(outcome.output, "\n  " + name + " ")) << outcome.output;
    EXPECT_EQ(shell("$H digest " + name + " --help", directory).exit_code, 0);
  }
  EXPECT_EQ(shell("$H digest", directory).exit_code, 2);
  EXPECT_EQ(shell("$H digest build", directory).exit_code, 2);
  EXPECT_TRUE(contains(shell("$H digest common --help", directory).output,
                       "each once, in the order of the first file"));
}

TEST(DigestCommand, WorksInAPipeline) {
  const TemporaryDirectory directory;
  EXPECT_EQ(
      shell("seq 1 3000 | sed 's|^|http://example.com/|' | $H digest build -o f > /dev/null &&"
            "echo http://example.com/3000 | $H digest query f -",
            directory)
          .output,
      "http://example.com/3000\n");
  EXPECT_EQ(shell("$H digest query f http://example.com/x", directory).exit_code, 1);
  EXPECT_EQ(
      shell("seq 1 50000 > a; seq 25000 2 75000 > b; $H digest common -q --exact a b | tail -n 1",
            directory)
          .output,
      "50000\n");
  const Outcome cut = shell("seq 1 300000 | $H digest dedup -q | head -n 1", directory);
  EXPECT_EQ(cut.output, "1\n");
  EXPECT_EQ(cut.errors, "");
  EXPECT_EQ(shell("seq 1 9 | $H digest dedup > /dev/full", directory).exit_code, 2);
}

// An address space of 300,000 KB is enough for the program, but not for the filters below. With
// AddressSanitizer the program itself needs more, and operator new ends it instead of throwing.
TEST(DigestCommand, SaysInALineThatMemoryRanOut) {
  if (kSanitized) GTEST_SKIP() << "AddressSanitizer";
  const TemporaryDirectory directory;
  const std::string few = "ulimit -v 300000; $H ";
  ASSERT_EQ(shell(few + "--version", directory).exit_code, 0);
  EXPECT_EQ(shell("$H digest build -o f --capacity 150000000 < /dev/null", directory).exit_code, 0);
  for (const std::string work : {"query f http://example.com/", "info f", "union f f -o g",
                                 "dedup --capacity 250000000", "build -o g --capacity 300000000"}) {
    const Outcome outcome = shell("echo a > a;" + few + "digest " + work + " < a", directory);
    EXPECT_EQ(outcome.exit_code, 2) << work;
    EXPECT_TRUE(contains(outcome.errors, "not enough memory; ")) << work << outcome.errors;
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1);
  }
}

TEST(DigestCommand, ReadsNoMoreOfAFilterThanItsHead) {
  const TemporaryDirectory directory;
  ASSERT_EQ(shell("echo http://example.com/ | $H digest build -o f; truncate -s 3G f", directory)
                .exit_code,
            0);
  const Outcome outcome = shell("$H digest info f", directory);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(contains(outcome.errors, "another length than it says")) << outcome.errors;
  rusage used{};
  ASSERT_EQ(::getrusage(RUSAGE_CHILDREN, &used), 0);
  EXPECT_LT(used.ru_maxrss, 1'000'000) << "KB, of the largest child so far";
}

// `exec` replaces the shell, so that the program gets the signal. The pipe stays open meanwhile.
TEST(DigestCommand, DedupTellsItsReportWhenASignalEndsIt) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const TemporaryDirectory directory;
    ASSERT_EQ(shell("mkfifo pipe", directory).exit_code, 0);
    const int pipe = ::open((directory / "pipe").c_str(), O_RDWR | O_CLOEXEC);
    ChildProcess dedup({.arguments = {"/bin/sh", "-c", "exec $H digest dedup --window 2 < pipe"},
                        .environment = {"H=" + hearsay_program()},
                        .directory = directory.path()});
    constexpr std::string_view kLines = "a\nb\na\nc\nd\ne\nf\npart of a line";
    EXPECT_EQ(::write(pipe, kLines.data(), kLines.size()), ssize_t{kLines.size()});
    EXPECT_TRUE(await([&] { return contains(dedup.output(), "f\n"); }));
    dedup.signal(signal);
    EXPECT_EQ(dedup.wait(), 128 + signal);
    EXPECT_EQ(dedup.output(), "a\nb\nc\nd\ne\nf\n");
    EXPECT_TRUE(contains(dedup.errors(), "passed on                  6\n")) << dedup.errors();
    EXPECT_TRUE(contains(dedup.errors(), "\nforgotten ")) << dedup.errors();
    ::close(pipe);
  }
}

TEST(DigestCommand, AsksAProxyThatRuns) {
  const TemporaryDirectory directory;
  Scene scene;
  scene.origin.otherwise([](const Request&) { return cacheable("x"); });
  const std::string url = scene.origin.url("/held");
  scene.client.get(url);
  ASSERT_TRUE(await([&] { return scene.proxy.digest().at("entries") == 1; }));
  const json told =
      json::parse(shell("$H digest info --json " + scene.proxy.url(), directory).output);
  const json page = scene.proxy.digest();
  EXPECT_EQ(told.at("kind"), "native");
  EXPECT_EQ(told.at("salted"), true);
  for (const char* name : {"entries", "capacity", "bits", "hashes", "bits_set", "epoch"}) {
    EXPECT_EQ(told.at(name), page.at(name)) << name;
  }
  const std::string query = "$H digest query " + scene.proxy.url() + ' ';
  EXPECT_EQ(shell(query + url, directory).exit_code, 0);
  EXPECT_EQ(shell(query + scene.origin.url("/other"), directory).exit_code, 1);
  const json squids = json::parse(
      shell("$H digest info --json " + scene.proxy.url() + "/squid-internal-periodic/store_digest",
            directory)
          .output);
  EXPECT_EQ(squids.at("kind"), "squid");
}

TEST(DigestCommand, IsRefusedByAProxyThatDoesNotKnowIt) {
  const TemporaryDirectory directory;
  const ProxyProcess proxy(json{{"access", {{"admin", json::array()}}}});
  const Outcome outcome = shell("$H digest info " + proxy.url(), directory);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(contains(outcome.errors, "refused (403)")) << outcome.errors;
  EXPECT_TRUE(contains(outcome.errors, "access.peers")) << outcome.errors;
}

}  // namespace
}  // namespace scenario
