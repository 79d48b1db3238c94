// SIGUSR2: a newly started program takes over, and no connection is refused.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "tests/scenario/control/steered.hpp"
#include "tests/scenario/disk/disk_scene.hpp"
#include "tests/support/successors.hpp"

namespace scenario {
namespace {

// The first process is the scene's; all write to the same files.
class Dynasty : public DiskScene {
 public:
  explicit Dynasty(const json& more = json::object())
      : DiskScene(more), successors_(proxy().process()) {
    origin.otherwise([](const Request&) { return cacheable("hello"); });
  }

  std::string said() { return proxy().process().errors(); }
  pid_t pid() const { return successors_.pid(); }
  void ask_for_successor() const { successors_.ask_for_one(); }
  // Returns once the successor serves.
  void succeed() { ASSERT_TRUE(successors_.succeed()) << said(); }
  bool await_successor(std::size_t before) { return successors_.await_more_than(before); }

 private:
  support::Successors successors_;
};

// A transfer of which half has arrived, until rest().
class Transfer {
 public:
  explicit Transfer(Dynasty& dynasty) : client_(dynasty.proxy().port()) {
    dynasty.origin.on("/slow", Reply().sized(11).send("hello ").wait(gate_).send("world"));
    client_.send(request_text("GET", dynasty.origin.url("/slow")));
    response_ = client_.read_head();
  }

  std::string rest() {
    gate_.open();
    client_.read_rest(response_);
    return response_.body;
  }
  Client& client() { return client_; }

 private:
  Gate gate_;
  Client client_;
  Response response_;
};

TEST(TakeOver, KeepsTheCacheAndThePort) {
  Dynasty dynasty;
  dynasty.get("/a");
  dynasty.settle(1);
  const auto first = dynasty.pid();
  dynasty.succeed();
  EXPECT_NE(dynasty.pid(), first);
  EXPECT_TRUE(dynasty.holds("/a"));
  EXPECT_EQ(dynasty.proxy().process().wait(), 0);  // the first process has ended
  EXPECT_EQ(dynasty.get("/b").status, 200);
  EXPECT_EQ(dynasty.health().value("state", ""), "working");
}

// Each request has a connection of its own. A connection that waits in a queue when the process
// that would have accepted it ends would be reset.
TEST(TakeOver, FailsNoRequestHoweverOften) {
  Dynasty dynasty;
  const auto port = dynasty.proxy().port();
  std::atomic<bool> done = false;
  std::atomic<int> good = 0;
  std::atomic<int> bad = 0;
  std::vector<std::jthread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&, i] {
      for (int n = 0; !done; ++n) {
        try {
          Client client(port);
          const auto path = "/" + std::to_string(i) + "-" + std::to_string(n % 20);
          ++(client.get(dynasty.origin.url(path)).body == "hello" ? good : bad);
        } catch (const std::exception&) {
          ++bad;
        }
      }
    });
  }
  for (int times = 0; times < 5; ++times) dynasty.succeed();
  done = true;
  clients.clear();
  EXPECT_GT(good, 0);
  EXPECT_EQ(bad, 0) << "of " << good + bad << '\n' << dynasty.said();
}

TEST(TakeOver, LetsATransferEndWhileOthersAreServed) {
  Dynasty dynasty;
  Transfer transfer(dynasty);
  dynasty.succeed();
  EXPECT_EQ(dynasty.get("/b").status, 200);
  EXPECT_EQ(transfer.rest(), "hello world");
  EXPECT_EQ(transfer.client().get(dynasty.origin.url("/b")).field("Connection"), "close");
  EXPECT_TRUE(transfer.client().is_closed());
  EXPECT_EQ(dynasty.proxy().process().wait(), 0);
}

// The old process stays for a download that lasts longer than timeouts.drain; told to end, it gives
// it that time.
TEST(TakeOver, CutsNoTransferUntilTheOldProcessIsToldToEnd) {
  Dynasty dynasty(json{{"timeouts", {{"drain", "100ms"}}}});
  dynasty.origin.on("/slower", Reply().sized(11).send("hello ").wait({}));
  Transfer transfer(dynasty);
  Client cut(dynasty.proxy().port());
  cut.send(request_text("GET", dynasty.origin.url("/slower")));
  Response part = cut.read_head();
  const auto first = dynasty.pid();
  dynasty.succeed();
  EXPECT_FALSE(await([&] { return dynasty.proxy().process().exit_code().has_value(); },
                     std::chrono::milliseconds(400)));
  EXPECT_EQ(transfer.rest(), "hello world");
  ::kill(first, SIGTERM);
  EXPECT_EQ(dynasty.proxy().process().wait(), 0);
  cut.read_rest(part);
  EXPECT_FALSE(part.whole);
}

TEST(TakeOver, CutsTransfersAfterTheTimeForAHandOver) {
  Dynasty dynasty(json{{"timeouts", {{"drain", "0s"}, {"hand_over", "300ms"}}}});
  dynasty.origin.on("/slow", Reply().sized(11).send("hello ").wait({}));
  Client client(dynasty.proxy().port());
  client.send(request_text("GET", dynasty.origin.url("/slow")));
  client.read_head();
  dynasty.succeed();
  EXPECT_EQ(dynasty.proxy().process().wait(), 0);
}

// The successor has read the disk before the predecessor learns that the response is outdated.
TEST(TakeOver, ForgetsWhatThePredecessorInvalidates) {
  Dynasty dynasty;
  dynasty.get("/a");
  dynasty.settle(1);
  Gate gate;
  dynasty.origin.on("/a", Reply().wait(gate).body("changed"));
  Client client(dynasty.proxy().port());
  client.send(request_text("POST", dynasty.origin.url("/a"), {}, "x"));
  ASSERT_TRUE(await([&] { return dynasty.origin.count("/a") == 2; }));
  dynasty.succeed();
  EXPECT_TRUE(dynasty.holds("/a"));
  gate.open();
  EXPECT_EQ(client.read("POST").body, "changed");
  EXPECT_FALSE(dynasty.holds("/a"));
}

TEST(TakeOver, GoesOnIfTheNewProgramDoesNotServe) {
  Dynasty dynasty;
  const auto settings = read_file(dynasty.proxy().settings_file());
  for (std::size_t times = 1; times <= 2; ++times) {
    write_file(dynasty.proxy().settings_file(), "{ \"no\": 1 }");
    dynasty.ask_for_successor();
    ASSERT_TRUE(await([&] { return count_of(dynasty.said(), "this one goes on") == times; }))
        << dynasty.said();
    EXPECT_EQ(dynasty.get("/a" + std::to_string(times)).status, 200);
  }
  dynasty.settle(2);
  write_file(dynasty.proxy().settings_file(), settings);
  dynasty.succeed();
  EXPECT_TRUE(dynasty.holds("/a2"));
}

// The new program fails after it has opened the control socket.
TEST(TakeOver, KeepsTheControlSocketIfTheNewProgramFails) {
  const TemporaryDirectory directory;
  const auto socket = directory / "control.sock";
  Dynasty dynasty(with_control(socket));
  json settings = json::parse(read_file(dynasty.proxy().settings_file()));
  const auto good = settings.dump();
  settings["access"]["block"] = {(directory / "missing").string()};
  write_file(dynasty.proxy().settings_file(), settings.dump());
  dynasty.ask_for_successor();
  ASSERT_TRUE(await([&] { return contains(dynasty.said(), "this one goes on"); }))
      << dynasty.said();
  EXPECT_EQ(hearsay({"status", "--socket", socket.string()}).exit_code, 0);
  write_file(dynasty.proxy().settings_file(), good);
  dynasty.succeed();
  EXPECT_EQ(hearsay({"status", "--socket", socket.string()}).exit_code, 0);
}

// The process that starts programs for this one; 0: there is none.
pid_t launcher_of(pid_t proxy) {
  for (const auto& item : std::filesystem::directory_iterator("/proc")) {
    const auto status = read_file(item.path() / "status");
    if (contains(status, "\nPPid:\t" + std::to_string(proxy) + "\n")) {
      return std::stoi(item.path().filename());
    }
  }
  return 0;
}

bool is_served(std::uint16_t port) {
  try {
    const Client client(port);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// Of whom SIGTERM is sent to, and once how many programs have said so.
struct Meanwhile {
  const char* name;
  bool to_launcher;
  const char* said;
  std::size_t times;
};

class ToldToEndMeanwhile : public testing::TestWithParam<Meanwhile> {};

TEST_P(ToldToEndMeanwhile, NothingServesOn) {
  for (int tries = 0; tries < 20; ++tries) {
    Dynasty dynasty;
    dynasty.get("/a");
    dynasty.settle(1);
    const auto port = dynasty.proxy().port();
    std::optional<Transfer> transfer(std::in_place, dynasty);
    const auto told =
        GetParam().to_launcher ? launcher_of(dynasty.pid()) : dynasty.proxy().process().pid();
    ASSERT_GT(told, 0);
    dynasty.ask_for_successor();
    ASSERT_TRUE(await([&] {
      return count_of(dynasty.said(), GetParam().said) == GetParam().times;
    })) << dynasty.said();
    ::kill(told, SIGTERM);
    EXPECT_EQ(transfer->rest(), "hello world");
    if (GetParam().to_launcher) transfer.reset();  // told too late, it tells nobody
    EXPECT_EQ(dynasty.proxy().process().wait(), 0) << dynasty.said();
    if (contains(dynasty.said(), "has taken over")) continue;  // before it was told
    EXPECT_TRUE(await([&] { return !is_served(port); })) << dynasty.said();
    dynasty.begin();
    EXPECT_TRUE(dynasty.holds("/a"));
    return;
  }
  FAIL() << "each time the program had taken over before";
}

INSTANTIATE_TEST_SUITE_P(TakeOver, ToldToEndMeanwhile,
                         testing::Values(Meanwhile{"AtOnce", false, "starting a new program", 1},
                                         Meanwhile{"OnceItHasTheDisk", false, " holds ", 2},
                                         Meanwhile{"OnceItIsAboutToServe", false, " limits: ", 2},
                                         Meanwhile{"ByTheLauncher", true, " holds ", 2}),
                         [](const auto& test) { return test.param.name; });

TEST(TakeOver, IsNotBegunByAProcessThatDrains) {
  Dynasty dynasty;
  Transfer transfer(dynasty);
  ::kill(dynasty.pid(), SIGTERM);
  ASSERT_TRUE(await([&] { return contains(dynasty.said(), "draining:"); }));
  ASSERT_TRUE(await([&] { return dynasty.get("/a").status == 503; }));
  dynasty.ask_for_successor();
  transfer.rest();
  EXPECT_EQ(dynasty.proxy().process().wait(), 0);
  EXPECT_FALSE(contains(dynasty.said(), "starting a new program")) << dynasty.said();
}

TEST(TakeOver, KeepsTheControlSocketWhileTheOldProcessEnds) {
  const TemporaryDirectory directory;
  const auto socket = directory / "control.sock";
  Dynasty dynasty(with_control(socket));
  for (int times = 0; times < 2; ++times) {
    dynasty.succeed();
    EXPECT_EQ(hearsay({"status", "--socket", socket.string()}).exit_code, 0);
  }
  EXPECT_EQ(dynasty.proxy().process().wait(), 0);
  EXPECT_EQ(hearsay({"status", "--socket", socket.string()}).exit_code, 0);
}

TEST(TakeOver, LeavesNoControlSocketBehindThatTheSuccessorDoesNotUse) {
  const TemporaryDirectory directory;
  const auto former = directory / "former.sock";
  Dynasty dynasty(with_control(former));
  json settings = json::parse(read_file(dynasty.proxy().settings_file()));
  settings["control"] = (directory / "later.sock").string();
  write_file(dynasty.proxy().settings_file(), settings.dump());
  dynasty.succeed();
  EXPECT_EQ(dynasty.proxy().process().wait(), 0);
  EXPECT_FALSE(std::filesystem::exists(former));
  EXPECT_EQ(hearsay({"status", "--socket", settings["control"]}).exit_code, 0);
}

TEST(TakeOver, SaysWhenTheLauncherIsGoneWhichPeopleDoNotTakeForTheProxy) {
  Dynasty dynasty;
  const auto launcher = launcher_of(dynasty.pid());
  ASSERT_GT(launcher, 0);
  const auto shown = read_file("/proc/" + std::to_string(launcher) + "/cmdline");
  EXPECT_TRUE(shown.starts_with("hearsay-launch")) << shown;
  EXPECT_FALSE(contains(shown, "serve")) << shown;
  ::kill(launcher, SIGKILL);
  EXPECT_TRUE(await([&] { return contains(dynasty.said(), "restart the service"); }));
  dynasty.ask_for_successor();
  EXPECT_TRUE(await([&] { return contains(dynasty.said(), "this one goes on"); }));
  EXPECT_TRUE(contains(dynasty.said(), "hearsay-launch, which starts")) << dynasty.said();
}

TEST(TakeOver, FollowsNewSettingsOfThreadsAndAddresses) {
  Dynasty dynasty;
  json settings = json::parse(read_file(dynasty.proxy().settings_file()));
  const auto kept = dynasty.proxy().address();
  for (const int threads : {1, 3}) {
    settings["threads"] = threads;
    settings["listen"] = {kept, "127.0.0.2:0"};
    write_file(dynasty.proxy().settings_file(), settings.dump());
    dynasty.succeed();
    for (int i = 0; i < 20; ++i) EXPECT_EQ(dynasty.get("/" + std::to_string(i)).status, 200);
  }
  EXPECT_TRUE(contains(dynasty.proxy().process().output(), "listening on 127.0.0.2:"));
}

}  // namespace
}  // namespace scenario
