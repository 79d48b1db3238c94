#include <gtest/gtest.h>

#include "proxy/fill/fill.hpp"
#include "tests/proxy/fill/fill_scene.hpp"

namespace proxy::fill {
namespace {

TEST(FillReader, KnowsWithoutAWaitWhatHasCome) {
  boost::asio::io_context io{1};
  cache::Budget budget{1 << 20};
  const auto fill = std::make_shared<Fill>("http://a/", io.get_executor());
  const auto reader = FillReader::attach(fill, io.get_executor());
  EXPECT_FALSE(reader->news().head);
  FillHead head;
  head.length = 5;
  fill->publish(head);
  ASSERT_TRUE(reader->news().head);
  EXPECT_EQ(reader->news().head->value()->length, 5U);
  append_block(*fill, budget, "hello");
  EXPECT_FALSE(reader->at_end());
  EXPECT_FALSE(reader->at_hand().empty());
  EXPECT_FALSE(reader->at_end()) << "more may come";
  fill->finish();
  EXPECT_TRUE(reader->at_end());
}

TEST(FillReader, SharesAWakeupWithThoseBeforeIt) {
  boost::asio::io_context io{1};
  cache::Budget budget{1 << 20};
  net::Wakeup wakeup(io.get_executor());
  for (int turn = 0; turn < 3; ++turn) {
    const auto fill = std::make_shared<Fill>("http://a/", io.get_executor());
    const auto reader = FillReader::attach(fill, wakeup);
    std::optional<std::string> got;
    const auto note = [&got](const std::exception_ptr&, upstream::Outcome<std::string> text) {
      got = std::move(text).value();
    };
    net::spawn(io.get_executor(), rest_of(*reader), note);
    fill->publish({});
    append_block(*fill, budget, "ab");
    io.restart();
    io.poll();
    EXPECT_FALSE(got);
    fill->finish();  // the reader's last news; the next reader finds the wakeup used
    io.restart();
    io.poll();
    EXPECT_EQ(got, "ab");
  }
}

}  // namespace
}  // namespace proxy::fill
