// A process cannot leave the sandbox, so tests enter it in a child.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace proxy::machine::sandbox {

// Runs `body` in a child process. Returns the body's result, which must be from 0 to 127, or 128 +
// the number of the signal that ended the child.
template <class Body>
int in_child(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// 0 if a call returned what means success, else the number of its error.
inline int error_if(bool failed) {
  return failed ? errno : 0;
}

constexpr int kNotLimited = 127;  // the kernel offers no limits, or refused them

}  // namespace proxy::machine::sandbox
