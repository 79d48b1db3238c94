// The program as a service: the user that it becomes, and its memory.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

// Root may write anywhere below; the user `nobody` only where it was given something.
struct StartedByRoot : testing::Test {
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root becomes another user";
    nobody = ::getpwnam("nobody");
    ASSERT_NE(nobody, nullptr);
    ASSERT_EQ(::chmod(home.path().c_str(), 0755), 0);
  }

  uid_t owner_of(const std::filesystem::path& path) const {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_uid;
  }
  // The settings file is in a folder that `nobody` may read.
  std::unique_ptr<ChildProcess> serve(const json& more = json::object()) {
    json settings = settings_for_tests(home / "logs/access.log");
    settings["user"] = "nobody";
    settings["cache"]["disk"] = {{"path", (home / "var/cache").string()}, {"size", "64MiB"}};
    settings.merge_patch(more);
    write_file(home / "settings.json", settings.dump());
    ::chmod((home / "settings.json").c_str(), 0644);
    auto proxy = std::make_unique<ChildProcess>(serve_command(home / "settings.json"));
    const bool settled = await([&] {
      return contains(proxy->output(), "listening on ") || proxy->exit_code().has_value();
    });
    EXPECT_TRUE(settled) << proxy->errors();
    return proxy;
  }

  TemporaryDirectory home;
  const passwd* nobody = nullptr;
};

TEST_F(StartedByRoot, BecomesTheUserAndGivesItTheCacheAndTheLog) {
  const auto proxy = serve();
  const auto status = read_file("/proc/" + std::to_string(proxy->pid()) + "/status");
  const auto uid = std::to_string(nobody->pw_uid);
  EXPECT_TRUE(contains(status, "Uid:\t" + uid + "\t" + uid + "\t" + uid)) << status;
  EXPECT_TRUE(contains(status, "CapEff:\t0000000000000000")) << status;
  EXPECT_TRUE(contains(proxy->errors(), "runs as user nobody")) << proxy->errors();
  EXPECT_EQ(owner_of(home / "var/cache"), nobody->pw_uid);
  EXPECT_EQ(owner_of(home / "var/cache/lock"), nobody->pw_uid);
  EXPECT_EQ(owner_of(home / "logs/access.log"), nobody->pw_uid);
}

// What a run as root has left is root's; another user's is not ours to give.
TEST_F(StartedByRoot, TakesOverWhatRootHasLeftAndNothingElse) {
  std::filesystem::create_directories(home / "var/cache");
  write_file(home / "var/cache/lock", "");
  std::filesystem::create_directories(home / "logs");
  write_file(home / "logs/access.log", "");
  ASSERT_EQ(::chown((home / "logs/access.log").c_str(), 1, 1), 0);
  ASSERT_EQ(::chmod((home / "logs/access.log").c_str(), 0666), 0);
  const auto proxy = serve();
  EXPECT_EQ(owner_of(home / "var/cache/lock"), nobody->pw_uid);
  EXPECT_EQ(owner_of(home / "logs/access.log"), 1U);
}

TEST_F(StartedByRoot, LogsToALinkOrAPipeThatItDoesNotGiveAway) {
  std::filesystem::create_directories(home / "logs");
  write_file(home / "elsewhere.log", "");
  ASSERT_EQ(::chmod((home / "elsewhere.log").c_str(), 0666), 0);
  std::filesystem::create_symlink(home / "elsewhere.log", home / "logs/access.log");
  const auto linked = serve();
  EXPECT_TRUE(contains(linked->output(), "listening on ")) << linked->errors();
  EXPECT_EQ(owner_of(home / "elsewhere.log"), 0U);
  ASSERT_EQ(::mkfifo((home / "logs/pipe").c_str(), 0666), 0);
  ASSERT_EQ(::chmod((home / "logs/pipe").c_str(), 0666), 0);
  const int reader = ::open((home / "logs/pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const auto piped = serve(
      json{{"log", {{"access", (home / "logs/pipe").string()}}}, {"cache", {{"disk", nullptr}}}});
  EXPECT_TRUE(contains(piped->output(), "listening on ")) << piped->errors();
  EXPECT_EQ(owner_of(home / "logs/pipe"), 0U);
  ::close(reader);
}

TEST_F(StartedByRoot, NeedsAUserWhoExists) {
  const auto proxy = serve(json{{"user", "no-such-user"}});
  EXPECT_EQ(proxy->wait(), 1);
  EXPECT_TRUE(contains(proxy->errors(), "there is no user no-such-user")) << proxy->errors();
}

}  // namespace
}  // namespace scenario
