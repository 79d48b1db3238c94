// Another program, run for a test and never outliving it.
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
  std::vector<std::string> environment = {};  // "NAME=value", beside what this process has
  std::vector<int> sockets = {};  // become descriptors 3, 4, ...; LISTEN_FDS and LISTEN_PID say so
  std::filesystem::path directory = {};  // to run in; ours if empty
};

// Starts the program; its output goes to files. It is killed with this object, and by the kernel
// if the thread that started it ends first, however that comes about: start it from a thread that
// stays.
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
  // The exit code, or 128 + the signal that ended it; none while it runs.
  std::optional<int> exit_code();
  // Waits for it. Throws TimedOut after the limit.
  int wait(std::chrono::milliseconds limit = kPatience);

 private:
  TemporaryDirectory directory_;  // its output
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
