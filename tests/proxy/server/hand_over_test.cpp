#include "proxy/server/hand_over.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace {

// The new program is `sleep`, which never serves.
TEST(HandOver, GivesUpAProgramThatDoesNotServeInTime) {
  std::string program = "/bin/sleep";
  std::string seconds = "5";
  char* const arguments[] = {program.data(), seconds.data(), nullptr};
  const succession::Launcher launcher(arguments);
  net::asio::io_context io;
  const config::HostPort any{"127.0.0.1", 0};
  const Listeners listeners({&any, 1}, 1);
  config::Settings settings;
  settings.control = "none";
  ControlSocket control(settings);
  succession::Successor successor;
  int taken_back = 0;
  const HandOver::Steps steps{[] { return true; }, [&] { ++taken_back; }, [] {}};
  HandOver hand_over(io, {listeners, control}, launcher, successor, steps, std::chrono::seconds(1));
  for (int times = 0; times < 2; ++times) {
    hand_over.begin();
    io.restart();
    io.run_for(std::chrono::seconds(5));
    EXPECT_TRUE(io.stopped()) << "the channel and its deadline are over";
    EXPECT_FALSE(hand_over.is_done());
  }
  EXPECT_EQ(taken_back, 0) << "what was not released";
}

}  // namespace
}  // namespace proxy
