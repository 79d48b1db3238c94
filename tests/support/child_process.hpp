// Another program, run for a test, which it does not outlive.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/socket.hpp"
#include "tests/support/temporary_directory.hpp"

namespace support {

struct Command {
  std::vector<std::string> arguments;         // the program first, with its path
  std::vector<std::string> environment = {};  // "NAME=value", added to this process's
  std::vector<int> sockets = {};  // become descriptors 3, 4, ...; LISTEN_FDS and LISTEN_PID say so
  std::filesystem::path directory = {};  // to run in; the current one if empty
};

// Starts the program; its output goes to files. The destructor kills it. The kernel kills it when
// the thread that started it ends, so start it on a thread that lasts.
class ChildProcess {
 public:
  explicit ChildProcess(const Command& command);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  std::string output() const { return read_file(directory_ / "stdout"); }
  std::string errors() const { return read_file(directory_ / "stderr"); }

  void signal(int number) const;
  // The exit code, or 128 + the number of the signal that ended the program; none while it runs.
  std::optional<int> exit_code();
  // Waits for the exit code. Throws TimedOut after the limit.
  int wait(std::chrono::milliseconds limit = kPatience);

 private:
  TemporaryDirectory directory_;  // for stdout and stderr
  pid_t pid_ = -1;
  std::optional<int> exit_code_;
};

struct Outcome {
  int exit_code = 0;
  std::string output;
  std::string errors;
};

Outcome run_to_end(const Command& command, std::chrono::milliseconds limit = kPatience);

}  // namespace support
