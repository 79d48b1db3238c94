#include "proxy/machine/sandbox.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "proxy/machine/descriptor.hpp"

namespace proxy::sandbox {
namespace {

using machine::Descriptor;

// If core dumps are piped to a program, the kernel ignores the limit, so both are set.
void forbid_core_dumps() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

// Why the proxy would serve without the sandbox; empty if it would serve inside.
std::string_view reason_for_none(const config::Settings& settings) {
  if (!settings.sandbox) return "sandbox: off, by the setting \"sandbox\"";
  if (kSanitized) return "sandbox: off, in a build with a sanitizer";
  return {};
}

// The header of Debian 12 ends with version 2, the kernel may be newer.
constexpr std::uint64_t kTruncate = 1ULL << 14;
constexpr std::uint64_t kDeviceControl = 1ULL << 15;
constexpr std::uint64_t kBindTcp = 1ULL << 0;
constexpr std::uint64_t kAbstractSockets = 1ULL << 0;
constexpr std::uint64_t kSignals = 1ULL << 1;

constexpr std::uint64_t kVersion1 = (1ULL << 13) - 1;  // LANDLOCK_ACCESS_FS_MAKE_SYM and all before

struct RulesetAttributes {
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scopes;
};

RulesetAttributes denied_from(int version) {
  std::uint64_t files = kVersion1;
  if (version >= 2) files |= LANDLOCK_ACCESS_FS_REFER;
  if (version >= 3) files |= kTruncate;
  if (version >= 5) files |= kDeviceControl;
  return {files, version >= 4 ? kBindTcp : 0, version >= 6 ? kAbstractSockets | kSignals : 0};
}

std::uint64_t rights_of(Use use) {
  constexpr std::uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  constexpr std::uint64_t kAppend = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG;
  switch (use) {
    case Use::read:
      return kRead;
    case Use::append:
      return kAppend;
    case Use::remove:
      return LANDLOCK_ACCESS_FS_REMOVE_FILE;
    case Use::store:
      break;
  }
  return kRead | kAppend | kTruncate | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE;
}

bool is_folder(const Descriptor& file) {
  struct stat status {};
  return ::fstat(file.number(), &status) == 0 && S_ISDIR(status.st_mode);
}

void create(const Grant& grant) {
  const char* const path = grant.path.c_str();
  if (grant.make == Make::folder) {
    const mode_t mode = grant.use == Use::store ? 0700 : 0750;
    std::filesystem::path folder;
    for (const auto& name : grant.path) ::mkdir((folder /= name).c_str(), mode);
  }
  if (grant.make == Make::file) {
    const Descriptor file(
        ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0640));
  }
}

void allow(const Descriptor& ruleset, const RulesetAttributes& denied, const Grant& grant) {
  constexpr std::uint64_t kOfFiles =
      LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
  const Descriptor granted(::open(grant.path.c_str(), O_PATH | O_CLOEXEC));
  if (!granted) return;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights_of(grant.use) & denied.files;
  if (!is_folder(granted)) rule.allowed_access &= kOfFiles;
  rule.parent_fd = granted.number();
  // The kernel refuses rules for pipes, which Landlock does not limit.
  ::syscall(SYS_landlock_add_rule, ruleset.number(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0U);
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

std::string confine(const config::Settings& settings, const std::string& settings_file) {
  if (const auto reason = reason_for_none(settings); !reason.empty()) return std::string(reason);
  return describe(enter(grants_for(settings, settings_file)));
}

std::vector<std::string> preview(const config::Settings& settings,
                                 const std::string& settings_file) {
  if (const auto reason = reason_for_none(settings); !reason.empty()) return {std::string(reason)};
  const auto parts = available();
  std::vector<std::string> lines{describe(parts)};
  auto writes = describe(grants_for(settings, settings_file));
  if (parts.files > 0 && !writes.empty()) lines.push_back(std::move(writes));
  return lines;
}

int landlock_version() {
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0UL, LANDLOCK_CREATE_RULESET_VERSION);
  return static_cast<int>(std::max(0L, version));
}

bool limit_files(const std::vector<Grant>& grants) {
  const int version = landlock_version();
  if (version == 0) return false;
  const auto denied = denied_from(version);
  const Descriptor ruleset(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &denied, sizeof denied, 0U)));
  if (ruleset.number() < 0) return false;
  for (const Grant& grant : grants) {
    create(grant);
    allow(ruleset, denied, grant);
  }
  return ::syscall(SYS_landlock_restrict_self, ruleset.number(), 0U) == 0;
}

}  // namespace proxy::sandbox
