#include "proxy/command/streams.hpp"

#include <new>
#include <stdexcept>

#include "tests/proxy/command/said.hpp"

namespace proxy::command {
namespace {

Said run(const Work& work) {
  const StreamFile in;
  const StreamFile out;
  const StreamFile err;
  const Streams streams{in.descriptor(), out.descriptor(), err.descriptor()};
  const int code = run_subcommand(work, "digest build", "take less", streams);
  return {code, out.content(), err.content()};
}

TEST(RunSubcommand, ReturnsTheExitCodeOfTheWork) {
  const Said said = run([](const Streams& streams) { return print("x", streams); });
  EXPECT_EQ(said.code, kDone);
  EXPECT_EQ(said.out, "x");
  EXPECT_EQ(run([](const Streams&) -> Result<int> { return kNone; }).code, kNone);
}

TEST(RunSubcommand, SaysTroubleInOneLine) {
  const Said said = run([](const Streams&) -> Result<int> { return Trouble{"f: no"}; });
  EXPECT_EQ(said.code, kFailed);
  EXPECT_EQ(said.err, "hearsay digest build: f: no\n");
}

TEST(RunSubcommand, TurnsExceptionsIntoTrouble) {
  const Said memory = run([](const Streams&) -> Result<int> { throw std::bad_alloc(); });
  EXPECT_EQ(memory.code, kFailed);
  EXPECT_EQ(memory.err, "hearsay digest build: not enough memory; take less\n");
  const Said other = run([](const Streams&) -> Result<int> { throw std::logic_error("odd"); });
  EXPECT_EQ(other.code, kFailed);
  EXPECT_TRUE(contains(other.err, "odd; please report this")) << other.err;
}

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

TEST(Progress, SaysHowFarAndHowFast) {
  EXPECT_EQ(progress_text("counting f", 50, 200, 3'000'000, std::chrono::seconds(2)),
            "counting f: 25 %, 3.0 M lines, 1.5 M/s");
  EXPECT_EQ(progress_text("reading", 50, 0, 100'000, std::chrono::seconds(1)),
            "reading: 0.1 M lines, 0.1 M/s");
  EXPECT_EQ(progress_text("uniting 4 digests", 1, 4, 0, std::chrono::seconds(2)),
            "uniting 4 digests: 25 %");
}

}  // namespace
}  // namespace proxy::command
