#include "proxy/command/ask.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/upstream/full_listener.hpp"
#include "tests/support/socket.hpp"

namespace proxy::command {
namespace {

TEST(Ask, GivesASilentProxyUpOnceItsPatienceIsOver) {
  const support::Listener silent;  // the system takes the connection, and nobody answers
  const RunningProxy proxy{.socket = {},
                           .url = "http://127.0.0.1:" + std::to_string(silent.port())};
  auto request = view("/health");
  EXPECT_EQ(request.patience, std::chrono::seconds(5));
  request.patience = std::chrono::seconds(1);
  const auto page = ask(proxy, request);
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().exit_code, kUnreachable);
  EXPECT_NE(page.error().text.find("has been silent for 1 s"), std::string::npos)
      << page.error().text;
}

TEST(Ask, TellsAProxyThatCannotBeReachedFromASilentOne) {
  boost::asio::io_context io;
  const support::FullListener unreachable(io);
  const auto port = std::to_string(unreachable.endpoint().port());
  const auto page = ask({.socket = {}, .url = "http://127.0.0.1:" + port}, view("/health"));
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().exit_code, kUnreachable);
  EXPECT_NE(page.error().text.find("may this machine reach it?"), std::string::npos)
      << page.error().text;
}

}  // namespace
}  // namespace proxy::command
