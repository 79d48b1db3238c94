// The proxy serves inside its sandbox. All other scenarios run inside it, too.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

class TheSandbox : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "off in a build with a sanitizer";
  }
};

std::filesystem::path about(ProxyProcess& proxy) {
  return std::filesystem::path("/proc") / std::to_string(proxy.process().pid());
}

// The proxy's threads whose status has this line, and all its threads.
std::pair<int, int> threads_with(ProxyProcess& proxy, std::string_view line) {
  std::pair<int, int> found;
  for (const auto& thread : std::filesystem::directory_iterator(about(proxy) / "task")) {
    found.first += contains(read_file(thread.path() / "status"), line) ? 1 : 0;
    ++found.second;
  }
  return found;
}

bool says(ProxyProcess& proxy, std::string_view text) {
  return await([&] { return contains(proxy.process().errors(), text); });
}

TEST_F(TheSandbox, HoldsEveryThreadUnlessTheSettingsTurnItOff) {
  ProxyProcess inside(json{{"cache", {{"memory", "64MiB"}}}});
  if (!says(inside, "system calls limited (seccomp)")) GTEST_SKIP() << inside.process().errors();
  // Two that serve, and those of the log, of purges and of neighbours.
  EXPECT_TRUE(await([&] { return threads_with(inside, "Seccomp:\t2").second >= 4; }));
  const auto [filtered, all] = threads_with(inside, "Seccomp:\t2");
  EXPECT_EQ(filtered, all);
  EXPECT_EQ(threads_with(inside, "NoNewPrivs:\t1").first, all);
  ProxyProcess outside(json{{"sandbox", false}});
  EXPECT_TRUE(says(outside, "sandbox: off"));
  EXPECT_EQ(threads_with(outside, "Seccomp:\t2").first, 0);
}

TEST_F(TheSandbox, LeavesNoCoreDump) {
  ProxyProcess proxy;
  const std::string limits = read_file(about(proxy) / "limits");
  const std::string line = limits.substr(limits.find("Max core file size"));
  EXPECT_TRUE(contains(line.substr(0, line.find('\n')), " 0  ")) << line;
  proxy.process().signal(SIGABRT);
  EXPECT_EQ(proxy.process().wait(), 128 + SIGABRT);
}

TEST_F(TheSandbox, IsDescribedByCheck) {
  const TemporaryDirectory home;
  const auto check = [&](const json& settings) {
    write_file(home / "settings.json", settings.dump());
    return run_to_end({{hearsay_program(), "check", "--config", home / "settings.json"}}).output;
  };
  std::filesystem::create_directory(home / "logs");
  const auto log = (home / "logs/access.log").string();
  const std::string on = check({{"log", {{"access", log}}}});
  EXPECT_TRUE(contains(on, "\nsandbox: no core dumps")) << on;
  if (contains(on, "files limited")) {
    EXPECT_TRUE(contains(on, "writes only to " + (home / "logs").string())) << on;
  }
  EXPECT_TRUE(contains(check({{"sandbox", false}}), "sandbox: off"));
}

// Without Landlock the proxy would append to whatever the link leads to.
TEST_F(TheSandbox, KeepsALogThatBecameALinkFromOtherFiles) {
  const TemporaryDirectory others;
  write_file(others / "secret", "untouched");
  Scene scene;
  if (!says(scene.proxy, "files limited")) GTEST_SKIP() << scene.proxy.process().errors();
  scene.origin.otherwise([](const Request&) { return Reply().body("hello"); });
  std::filesystem::remove(scene.proxy.access_log_path());
  std::filesystem::create_symlink(others / "secret", scene.proxy.access_log_path());
  scene.proxy.process().signal(SIGUSR1);
  EXPECT_TRUE(says(scene.proxy, "requests are not logged until then"));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).status, 200);
  EXPECT_EQ(scene.proxy.terminate(), 0);
  EXPECT_EQ(read_file(others / "secret"), "untouched");
}

TEST_F(TheSandbox, HasAMissingLogFolderAmongFoldersOfOthersMadeAtTheStart) {
  const std::filesystem::path home = "/tmp/hearsay-late-" + std::to_string(::getpid());
  const auto log = home / "logs/access.log";
  {
    ProxyProcess proxy(json{{"log", {{"access", log.string()}}}});
    EXPECT_TRUE(!says(proxy, "files limited") || std::filesystem::exists(log))
        << proxy.process().errors();
    EXPECT_FALSE(contains(proxy.process().errors(), "log.access")) << proxy.process().errors();
    if (says(proxy, "files limited")) {
      std::filesystem::remove_all(home);
      EXPECT_TRUE(says(proxy, "logs for the user of the proxy, then restart the proxy"));
      std::filesystem::create_directories(home / "logs");
      EXPECT_TRUE(says(proxy, "Permission denied; restart the proxy: its sandbox"));
      EXPECT_FALSE(contains(proxy.process().errors(), "tried again each second"));
    }
  }
  std::filesystem::remove_all(home);
}

// The number of cores looks different inside and outside if files of the kernel cannot be read.
TEST_F(TheSandbox, ServesOnEachSocketWhereTheProcessMayUseOneCoreOnly) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  const ProxyProcess proxy(json{{"threads", 0}});
  ::sched_setaffinity(0, sizeof before, &before);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(proxy.page("/health").status, 200);
}

// c-ares finds origins, glibc finds the neighbours whose digests are polled.
TEST_F(TheSandbox, LeavesNamesOfOriginsAndNeighboursResolvable) {
  ScriptedOrigin origin;
  origin.on("/a", cacheable("hello"));
  const ProxyProcess neighbour;
  const auto port = std::to_string(neighbour.port());
  const json peer{{"name", "b"}, {"url", "http://localhost:" + port}};
  const ProxyProcess proxy(json{{"peers", json::array({peer})}});
  Client client(proxy.port());
  EXPECT_EQ(client.get("http://localhost:" + std::to_string(origin.port()) + "/a").body, "hello");
  EXPECT_TRUE(await([&] { return proxy.digest_peer("b").at("kind") == "hearsay"; }));
}

}  // namespace
}  // namespace scenario
