#include "proxy/command/terminal_text.hpp"

#include <gtest/gtest.h>

namespace proxy::command {
namespace {

TEST(TerminalText, EscapesAllButPrintableAscii) {
  EXPECT_EQ(escaped("a b~"), "a b~");
  EXPECT_EQ(escaped("\x1b\n\\\x7f\xc3\xa9"), "\\x1b\\x0a\\x5c\\x7f\\xc3\\xa9");
  EXPECT_EQ(escaped(std::string_view("\0", 1)), "\\x00");
}

TEST(TerminalText, CutsWhatIsTooLong) {
  EXPECT_EQ(escaped("12345", 5), "12345");
  EXPECT_EQ(escaped("123456", 5), "12345... and 1 byte more");
}

TEST(TerminalText, RoundsTimesDown) {
  using namespace std::chrono_literals;
  EXPECT_EQ(short_time(-5s), "0s");
  EXPECT_EQ(short_time(59s), "59s");
  EXPECT_EQ(short_time(3599s), "59m");
  EXPECT_EQ(short_time(24h - 1s), "23h");
  EXPECT_EQ(short_time(100'000h), "4166d");
}

}  // namespace
}  // namespace proxy::command
