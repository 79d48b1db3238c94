#include "proxy/command/run_subcommand.hpp"

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

}  // namespace
}  // namespace proxy::command
