// Confines a running proxy, so that an attacker who takes it over gains little: no other program,
// no other files, no new listening sockets.
#pragma once

#include <string>
#include <vector>

#include "proxy/machine/grants.hpp"

namespace proxy::sandbox {

// The parts of the sandbox that depend on the kernel.
struct Parts {
  bool calls = false;  // system calls are limited, by seccomp
  int files = 0;       // the version of Landlock that limits files; 0: files are not limited

  bool operator==(const Parts&) const = default;
};

// AddressSanitizer and ThreadSanitizer trace the process, start programs and read files that the
// sandbox denies. A program that is built with them serves without the sandbox.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)  // clang
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

// What enter() would put in force on this kernel.
Parts available();

// Confines the process until it ends: call_limits.hpp, file_limits.hpp, no_new_privs, no core
// dumps, and no tracing by other programs of the same user. Returns what is in force.
//
// Landlock limits only the calling thread and the threads that it starts later. So call this while
// the process has one thread, after the sockets are bound.
Parts enter(const std::vector<Grant>& grants);

// What is limited, and which parts are missing in this kernel, in one line for a person.
std::string describe(const Parts& parts);

// Where the process may write, in one line for a person; empty if nowhere.
std::string describe(const std::vector<Grant>& grants);

}  // namespace proxy::sandbox
