#include "tests/support/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <system_error>

#include "tests/support/await.hpp"

namespace support {
namespace {

constexpr std::string_view kListenPid = "LISTEN_PID=";
constexpr int kFirstInherited = 3;

// All that the child needs between fork and exec, prepared before the fork. Other threads may hold
// locks at the fork, so the child makes system calls only.
struct Plan {
  std::vector<std::string> environment;
  std::vector<char*> argument_pointers;
  std::vector<char*> environment_pointers;
  std::string listen_pid = std::string(kListenPid) + std::string(20, '\0');
  std::string output;
  std::string errors;
  std::string directory;
};

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  return pointers;
}

void fill(Plan& plan, const Command& command, const std::filesystem::path& outputs) {
  for (char** entry = environ; *entry != nullptr; ++entry) plan.environment.emplace_back(*entry);
  for (const auto& entry : command.environment) plan.environment.push_back(entry);
  if (!command.sockets.empty()) {
    plan.environment.push_back("LISTEN_FDS=" + std::to_string(command.sockets.size()));
  }
  plan.argument_pointers = pointers_to(command.arguments);
  plan.argument_pointers.push_back(nullptr);
  plan.environment_pointers = pointers_to(plan.environment);
  if (!command.sockets.empty()) plan.environment_pointers.push_back(plan.listen_pid.data());
  plan.environment_pointers.push_back(nullptr);
  plan.output = outputs / "stdout";
  plan.errors = outputs / "stderr";
  plan.directory = command.directory;
}

void redirect(const std::string& path, int descriptor) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(126);
}

// Moves all sockets to high numbers first, as one may have the number that another is to get.
void inherit(const std::vector<int>& sockets, std::vector<int>& moved) {
  const int beyond = kFirstInherited + static_cast<int>(sockets.size());
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    moved[i] = ::fcntl(sockets[i], F_DUPFD_CLOEXEC, beyond);
  }
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    if (::dup2(moved[i], kFirstInherited + static_cast<int>(i)) < 0) ::_exit(126);
  }
}

[[noreturn]] void become(Plan& plan, const std::vector<int>& sockets, std::vector<int>& moved,
                         pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setpgid(0, 0);
  if (::getppid() != parent) ::_exit(126);
  redirect(plan.output, STDOUT_FILENO);
  redirect(plan.errors, STDERR_FILENO);
  inherit(sockets, moved);
  char* const digits = plan.listen_pid.data() + kListenPid.size();
  std::to_chars(digits, digits + 19, ::getpid());
  if (!plan.directory.empty() && ::chdir(plan.directory.c_str()) != 0) ::_exit(126);
  ::execve(plan.argument_pointers[0], plan.argument_pointers.data(),
           plan.environment_pointers.data());
  ::_exit(127);
}

}  // namespace

ChildProcess::ChildProcess(const Command& command) {
  Plan plan;
  fill(plan, command, directory_.path());
  std::vector<int> moved(command.sockets.size());
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) become(plan, command.sockets, moved, parent);
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  ::setpgid(pid_, pid_);  // the child does the same: whoever is first
}

ChildProcess::~ChildProcess() {
  ::kill(-pid_, SIGKILL);
  if (!exit_code()) ::waitpid(pid_, nullptr, 0);
}

void ChildProcess::signal(int number) const {
  if (!exit_code_) ::kill(pid_, number);
}

std::optional<int> ChildProcess::exit_code() {
  int status = 0;
  if (!exit_code_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  return exit_code_;
}

int ChildProcess::wait(std::chrono::milliseconds limit) {
  if (!await([this] { return exit_code().has_value(); }, limit)) {
    throw TimedOut("the program did not end; it said: " + output() + errors());
  }
  return *exit_code_;
}

Outcome run_to_end(const Command& command, std::chrono::milliseconds limit) {
  ChildProcess child(command);
  const int exit_code = child.wait(limit);
  return {exit_code, child.output(), child.errors()};
}

}  // namespace support
