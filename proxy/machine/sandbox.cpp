#include "proxy/machine/sandbox.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <iterator>

#include "proxy/machine/call_limits.hpp"
#include "proxy/machine/file_limits.hpp"

namespace proxy::sandbox {
namespace {

// If core dumps are piped to a program, the kernel ignores the limit, so both are set.
void forbid_core_dumps() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

}  // namespace

Parts available() {
  return {can_limit_calls(), landlock_version()};
}

// The files come first, because the filter lets through no call of Landlock.
Parts enter(const std::vector<Grant>& grants) {
  Parts parts;
  forbid_core_dumps();
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (limit_files(grants)) parts.files = landlock_version();
  parts.calls = limit_calls();
  return parts;
}

std::string describe(const Parts& parts) {
  std::string text = "sandbox: no core dumps, no new privileges";
  if (parts.calls) text += ", system calls limited (seccomp)";
  if (parts.files > 0) {
    fmt::format_to(std::back_inserter(text), ", files limited (Landlock {})", parts.files);
  }
  if (!parts.calls) text += "; system calls are not limited: no seccomp here";
  if (parts.files == 0) text += "; files are not limited: no Landlock here";
  return text;
}

std::string describe(const std::vector<Grant>& grants) {
  std::string text;
  for (const Grant& grant : grants) {
    if (grant.use == Use::read || grant.use == Use::remove) continue;
    text += text.empty() ? "sandbox: writes only to " : ", ";
    text += grant.path.native();
  }
  return text;
}

}  // namespace proxy::sandbox
