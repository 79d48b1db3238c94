// The program as a service: the user that it becomes, and its memory.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

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

  void theirs(const char* folder) const {
    std::filesystem::create_directories(home / folder);
    ASSERT_EQ(::chown((home / folder).c_str(), nobody->pw_uid, nobody->pw_gid), 0);
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

// The user may have been taken over: what is in its folders says nothing about what root means.
TEST_F(StartedByRoot, GivesAwayNothingBehindALinkOfTheUsers) {
  std::filesystem::create_directories(home / "precious");
  write_file(home / "precious/lock", "");
  theirs("theirs");
  std::filesystem::create_symlink(home / "precious", home / "theirs/cache");
  const json settings{{"cache", {{"disk", {{"path", (home / "theirs/cache").string()}}}}}};
  const auto proxy = serve(settings);
  EXPECT_EQ(owner_of(home / "precious"), 0U) << proxy->errors();
  EXPECT_EQ(owner_of(home / "precious/lock"), 0U);
}

TEST_F(StartedByRoot, MakesNoLogBehindALinkOfTheUsers) {
  std::filesystem::create_directories(home / "roots");
  write_file(home / "roots/secret", "");
  ASSERT_EQ(::chmod((home / "roots/secret").c_str(), 0600), 0);
  theirs("theirs");
  std::filesystem::create_symlink(home / "roots", home / "theirs/logs");
  std::filesystem::create_symlink(home / "roots/secret", home / "theirs/access.log");
  for (const char* const log :
       {"theirs/logs/access.log", "theirs/logs/new/access.log", "theirs/access.log"}) {
    const auto proxy = serve(json{{"log", {{"access", (home / log).string()}}}});
    EXPECT_EQ(proxy->exit_code(), std::nullopt) << log << ": it serves without its log";
    EXPECT_TRUE(contains(proxy->errors(), "log.access")) << proxy->errors();
    EXPECT_TRUE(contains(proxy->errors(), (home / log).native())) << proxy->errors();
  }
  EXPECT_FALSE(std::filesystem::exists(home / "roots/access.log"));
  EXPECT_FALSE(std::filesystem::exists(home / "roots/new"));
  EXPECT_EQ(owner_of(home / "roots/secret"), 0U);
}

// Who may change the folder could exchange the socket for a link before its mode or owner is set.
TEST_F(StartedByRoot, MakesTheControlSocketAsTheUserInAFolderOfTheUsers) {
  theirs("run");
  std::filesystem::create_directories(home / "roots");
  const auto socket = home / "run/control.sock";
  {
    const mode_t before = ::umask(0077);
    const auto proxy = serve(json{{"control", socket.string()}});
    ::umask(before);
    ASSERT_TRUE(contains(proxy->output(), "listening on ")) << proxy->errors();
    struct stat status {};
    ASSERT_EQ(::lstat(socket.c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, nobody->pw_uid);
    EXPECT_EQ(status.st_mode & 0777U, 0660U);
  }
  std::filesystem::create_symlink(home / "roots", home / "run/linked");
  const auto linked = serve(json{{"control", (home / "run/linked/control.sock").string()}});
  EXPECT_EQ(linked->exit_code(), 1);
  EXPECT_TRUE(contains(linked->errors(), "control: cannot listen at")) << linked->errors();
  EXPECT_TRUE(std::filesystem::is_empty(home / "roots"));
}

TEST_F(StartedByRoot, RefusesFoldersThatAnyUserMayChange) {
  std::filesystem::create_directories(home / "open");
  ASSERT_EQ(::chmod((home / "open").c_str(), 0777), 0);
  for (const json& place : {json{{"cache", {{"disk", {{"path", (home / "open/cache").string()}}}}}},
                            json{{"log", {{"access", (home / "open/logs/access.log").string()}}}},
                            json{{"control", (home / "open/run/control.sock").string()}}}) {
    const auto proxy = serve(place);
    EXPECT_EQ(proxy->exit_code(), 1) << place;
    EXPECT_TRUE(contains(proxy->errors(), "every user may change " + (home / "open").native()))
        << proxy->errors();
    const auto check =
        run_to_end({{hearsay_program(), "check", "--strict", "--config", home / "settings.json"}});
    EXPECT_EQ(check.exit_code, 2) << check.errors;
    EXPECT_TRUE(contains(check.errors, "every user may change")) << check.errors;
  }
  EXPECT_TRUE(std::filesystem::is_empty(home / "open"));
}

TEST_F(StartedByRoot, LeavesNothingOfRootsInTheCacheFromWhichRootDrops) {
  const auto proxy = serve();
  proxy->signal(SIGTERM);
  ASSERT_EQ(proxy->wait(kPatience), 0);
  run_to_end({{hearsay_program(), "cache", "drop", "--all", "--config", home / "settings.json"}});
  for (const auto& file : std::filesystem::directory_iterator(home / "var/cache")) {
    EXPECT_EQ(owner_of(file.path()), nobody->pw_uid) << file.path();
  }
}

TEST_F(StartedByRoot, FollowsTheLinksOfRootsOwn) {
  std::filesystem::create_directories(home / "srv/cache");
  write_file(home / "srv/cache/lock", "");
  std::filesystem::create_directories(home / "var");
  std::filesystem::create_symlink("../srv/cache", home / "var/cache");
  const auto proxy = serve();
  ASSERT_TRUE(contains(proxy->output(), "listening on ")) << proxy->errors();
  EXPECT_EQ(owner_of(home / "srv/cache"), nobody->pw_uid);
  EXPECT_EQ(owner_of(home / "srv/cache/lock"), nobody->pw_uid);
}

TEST_F(StartedByRoot, ListensAtAControlSocketInAFolderOfRoot) {
  std::filesystem::create_directory(home / "run");
  ASSERT_EQ(::chmod((home / "run").c_str(), 0755), 0);
  const auto socket = (home / "run/control.sock").string();
  const auto proxy = serve(json{{"control", socket}});
  ASSERT_TRUE(contains(proxy->output(), "listening on ")) << proxy->errors();
  EXPECT_EQ(owner_of(home / "run"), 0U);
  EXPECT_EQ(owner_of(socket), nobody->pw_uid);
}

// The proxy reads this file as `nobody`.
TEST_F(StartedByRoot, IsCheckedAsTheUserThatItBecomes) {
  write_file(home / "htpasswd",
             "anna:$2y$04$PeTXBQHKfskS4CFDHkB0k.GMZRYOxsvloI2xatMlh2arEGGNEfUPa\n");
  std::filesystem::create_directories(home / "cache");
  ASSERT_EQ(::chown((home / "cache").c_str(), 1, 1), 0);
  const auto check = [&](const json& more) {
    json settings{{"listen", {"127.0.0.1:0"}}, {"user", "nobody"}, {"control", "none"}};
    settings.merge_patch(more);
    write_file(home / "settings.json", settings.dump());
    return run_to_end({{hearsay_program(), "check", "--config", home / "settings.json"}});
  };
  const json users{{"users", {{"file", (home / "htpasswd").string()}}},
                   {"rules", json::array({{{"action", "allow"}, {"users", {"*"}}}})}};
  ASSERT_EQ(::chmod((home / "htpasswd").c_str(), 0600), 0);
  const auto unreadable = check(json{{"access", users}});
  EXPECT_EQ(unreadable.exit_code, 2);
  EXPECT_TRUE(contains(unreadable.errors, "Permission denied")) << unreadable.errors;
  ASSERT_EQ(::chmod((home / "htpasswd").c_str(), 0644), 0);
  EXPECT_EQ(check(json{{"access", users}}).exit_code, 0);
  const auto disk =
      check(json{{"cache", {{"disk", {{"path", (home / "cache").string()}, {"size", "64MiB"}}}}}});
  EXPECT_TRUE(contains(disk.errors, "cannot be written by a proxy that runs as user nobody"))
      << disk.errors;
  const auto nobody_there = check(json{{"user", "no-such-user"}});
  EXPECT_EQ(nobody_there.exit_code, 2) << "the start would fail";
  EXPECT_TRUE(contains(nobody_there.errors, "error: user: there is no user"))
      << nobody_there.errors;
}

TEST_F(StartedByRoot, SaysThatItKeepsRootsRightsUnlessThatIsMeant) {
  if (::getpwnam("hearsay")) GTEST_SKIP() << "this machine has the user hearsay";
  const json no_disk{{"disk", nullptr}};
  const auto unnoticed = serve(json{{"user", nullptr}, {"cache", no_disk}});
  EXPECT_TRUE(contains(unnoticed->errors(), "keeps root's rights")) << unnoticed->errors();
  const auto meant = serve(json{{"user", "root"}, {"cache", no_disk}});
  EXPECT_FALSE(contains(meant->errors(), "keeps root's rights")) << meant->errors();
}

// As ProtectSystem= of systemd does it.
TEST_F(StartedByRoot, SaysWhatLetsAServiceWriteAReadOnlyFolder) {
  std::filesystem::create_directories(home / "ro/cache");
  theirs("ro/cache");
  json settings = settings_for_tests(home / "ro/log/access.log");
  settings["user"] = "nobody";
  settings["cache"]["disk"] = {{"path", (home / "ro/cache").string()}, {"size", "64MiB"}};
  write_file(home / "settings.json", settings.dump());
  const std::string mounted = "mount --bind ro ro && mount -o remount,bind,ro ro && exec " +
                              hearsay_program() + " serve --config settings.json";
  const Command command{{"/usr/bin/unshare", "-m", "sh", "-c", mounted},
                        {"INVOCATION_ID=1", "NOTIFY_SOCKET="},
                        {},
                        home.path()};
  ChildProcess proxy(command);
  ASSERT_TRUE(await(
      [&] { return contains(proxy.output(), "listening on ") || proxy.exit_code().has_value(); }));
  const auto said = proxy.errors();
  if (contains(said, "unshare") || contains(said, "mount: ")) GTEST_SKIP() << said;
  EXPECT_EQ(proxy.exit_code(), std::nullopt) << said;
  for (const char* const folder : {"ro/cache", "ro/log"}) {
    EXPECT_TRUE(contains(said, "ReadWritePaths=-" + (home / folder).native())) << said;
  }
  EXPECT_TRUE(contains(said, ".service.d/paths.conf")) << said;
}

TEST_F(StartedByRoot, NeedsAUserWhoExists) {
  const auto proxy = serve(json{{"user", "no-such-user"}});
  EXPECT_EQ(proxy->wait(), 1);
  EXPECT_TRUE(contains(proxy->errors(), "there is no user no-such-user")) << proxy->errors();
}

}  // namespace
}  // namespace scenario
