#include "proxy/server/hand_over.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/machine/launcher.hpp"

namespace proxy::server {
namespace {

// A proxy that hands over to the program of these arguments.
class HandOverScene : public testing::Test {
 protected:
  // Returns once the program has failed.
  void hand_over_to(std::vector<std::string> program, bool disk_answers) {
    std::vector<char*> arguments;
    for (auto& text : program) arguments.push_back(text.data());
    arguments.push_back(nullptr);
    const machine::succession::Launcher launcher(arguments.data());
    net::asio::io_context io;
    const config::HostPort any{"127.0.0.1", 0};
    Listeners listeners({&any, 1}, 1);
    config::Settings settings;
    settings.process.control = "";  // none
    ControlSocket control(settings);
    machine::succession::Successor successor;
    const HandOver::Steps steps{[&] { return ++released_, disk_answers; }, [&] { ++taken_back_; },
                                [] {}, std::chrono::seconds(1)};
    HandOver hand_over(io, {listeners, control}, launcher, successor, steps);
    for (int times = 0; times < 2; ++times) {
      hand_over.begin();
      io.restart();
      io.run_for(std::chrono::seconds(5));
      EXPECT_TRUE(io.stopped()) << "the channel and its deadline are over";
      EXPECT_FALSE(hand_over.is_done());
    }
  }

  int released_ = 0;
  int taken_back_ = 0;
};

TEST_F(HandOverScene, GivesUpAProgramThatDoesNotServeInTime) {
  hand_over_to({"/bin/sleep", "5"}, true);
  EXPECT_EQ(released_, 0);
  EXPECT_EQ(taken_back_, 0) << "what was not released";
}

// The program asks for the disk, and ends.
TEST_F(HandOverScene, TakesTheDiskBackWhetherItAnsweredOrNot) {
  for (const bool disk_answers : {true, false}) {
    released_ = taken_back_ = 0;
    hand_over_to(
        {"/bin/sh", "-c", std::string("printf d >&$") + machine::succession::kChannelVariable},
        disk_answers);
    EXPECT_EQ(released_, 2);
    EXPECT_EQ(taken_back_, 2) << disk_answers;
  }
}

}  // namespace
}  // namespace proxy::server
