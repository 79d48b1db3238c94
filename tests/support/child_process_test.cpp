#include "tests/support/child_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>

namespace support {
namespace {

Command shell(const std::string& script) {
  return {{"/bin/sh", "-c", script}};
}

TEST(ChildProcess, GivesOutputAndExitCode) {
  const Outcome outcome = run_to_end(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.output, "out\n");
  EXPECT_EQ(outcome.errors, "err\n");
}

TEST(ChildProcess, SaysWhichSignalEndedIt) {
  EXPECT_EQ(run_to_end(shell("kill -9 $$")).exit_code, 128 + SIGKILL);
}

TEST(ChildProcess, InheritsSocketsAsTheServiceManagersDo) {
  const Listener first;
  const Listener second;
  Command command = shell(
      "[ $LISTEN_PID = $$ ] && [ $LISTEN_FDS = 2 ] && [ -e /proc/$$/fd/3 ] && "
      "readlink /proc/$$/fd/4");
  command.sockets = {first.descriptor(), second.descriptor()};
  const Outcome outcome = run_to_end(command);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output.substr(0, 7), "socket:");
}

TEST(ChildProcess, IsGoneWithItsObject) {
  pid_t pid = 0;
  {
    const ChildProcess child(shell("sleep 60"));
    pid = child.pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

}  // namespace
}  // namespace support
