// A thread that does not get on: it is named, and SIGTERM ends the program all the same.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "tests/scenario/disk/disk_scene.hpp"

namespace scenario {
namespace {

using namespace std::chrono_literals;

// Makes threads stick in the programs that are started while this object lives.
class StuckThreads {
 public:
  StuckThreads() {
    ::setenv("LD_PRELOAD", HEARSAY_STUCK_THREADS_LIBRARY, 1);
    ::setenv("HEARSAY_STUCK_THREADS", home_.path().c_str(), 1);
    ::setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 0);
  }
  ~StuckThreads() {
    ::unsetenv("LD_PRELOAD");
    ::unsetenv("HEARSAY_STUCK_THREADS");
  }
  StuckThreads(const StuckThreads&) = delete;
  StuckThreads& operator=(const StuckThreads&) = delete;
  void begin(const char* thread) { write_file(home_ / thread, ""); }
  void end(const char* thread) { std::filesystem::remove(home_ / thread); }

 private:
  TemporaryDirectory home_;
};

class AStuckThread : public testing::Test {
 protected:
  AStuckThread() {
    scene_.origin.otherwise([](const Request&) { return cacheable("hello"); });
    scene_.get("/a");
    scene_.settle(1);
  }

  json reasons() { return json::parse(scene_.proxy().page("/health").body).at("reasons"); }
  std::string said() { return scene_.proxy().process().errors(); }
  // Ends the program by SIGTERM, though the thread is stuck, and starts it anew.
  void expect_end_and_restart(const char* thread, const std::string& name) {
    scene_.proxy().process().signal(SIGTERM);
    EXPECT_EQ(scene_.proxy().process().wait(kLongest), 0) << said();
    EXPECT_TRUE(contains(said(), name + ": stuck, and keeps the process from ending")) << said();
    stuck_.end(thread);
    scene_.begin();
    EXPECT_TRUE(scene_.holds("/a")) << "the disk is as it should be";
  }

  static constexpr std::chrono::seconds kLongest{40};
  StuckThreads stuck_;
  DiskScene scene_{json{{"threads", 1}, {"timeouts", {{"drain", "100ms"}}}}};
};

TEST_F(AStuckThread, ThatPollsNeighboursIsNamedAndDoesNotHoldUpTheEnd) {
  EXPECT_EQ(reasons(), json::array());
  stuck_.begin("control");
  ASSERT_TRUE(await([&] { return !reasons().empty(); }, kLongest)) << said();
  EXPECT_EQ(reasons().at(0).at("what"), "thread");
  EXPECT_EQ(reasons().at(0).at("which"), "the control thread");
  EXPECT_EQ(scene_.proxy().metric("hearsay_troubles{what=\"thread\"}"), 1);
  EXPECT_TRUE(contains(said(), "the control thread: stuck;")) << said();
  EXPECT_EQ(scene_.get("/b").status, 200);
  scene_.settle(2);
  expect_end_and_restart("control", "the control thread");
  EXPECT_TRUE(scene_.holds("/b"));
}

TEST_F(AStuckThread, ThatPollsNeighboursIsForgottenOnceItGetsOn) {
  stuck_.begin("control");
  ASSERT_TRUE(await([&] { return !reasons().empty(); }, kLongest)) << said();
  stuck_.end("control");
  EXPECT_TRUE(await([&] { return reasons().empty(); })) << said();
  EXPECT_TRUE(contains(said(), "gets on again")) << said();
  scene_.restart();
}

TEST_F(AStuckThread, ThatServesDoesNotHoldUpTheEnd) {
  stuck_.begin("serving");
  const Client client(scene_.proxy().port());
  expect_end_and_restart("serving", "I/O thread 1");
}

// The main thread waits for the one that is stuck, and does not see the signal.
TEST_F(AStuckThread, ThatAReloadWaitsForDoesNotHoldUpTheEnd) {
  stuck_.begin("control");
  auto settings = json::parse(read_file(scene_.proxy().settings_file()));
  settings["digest"]["poll"] = "3s";
  write_file(scene_.proxy().settings_file(), settings.dump());
  scene_.proxy().process().signal(SIGHUP);
  ASSERT_TRUE(await([&] { return !reasons().empty(); }, kLongest)) << said();
  expect_end_and_restart("control", "the control thread");
}

}  // namespace
}  // namespace scenario
