#include "proxy/machine/sandbox.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/landlock.h>
#include <openssl/x509.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

#include "config/load.hpp"
#include "config/text.hpp"
#include "proxy/machine/descriptor.hpp"
#include "proxy/machine/folders.hpp"

namespace proxy::machine::sandbox {
namespace {

using machine::Descriptor;
using machine::is_shared;
using std::filesystem::path;

// If core dumps are piped to a program, the kernel ignores the limit, so both are set.
void forbid_core_dumps() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

// Why the proxy would serve without the sandbox; empty if it would serve inside.
std::string_view reason_for_none(const config::Settings& settings) {
  if (!settings.process.sandbox) return "sandbox: off, by the setting \"sandbox\"";
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

// A kernel refuses a ruleset with a right that it does not know (landlock_create_ruleset(2)).
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
  constexpr std::uint64_t kRemove = LANDLOCK_ACCESS_FS_REMOVE_FILE;
  constexpr std::uint64_t kStore =
      kRead | kAppend | kTruncate | kRemove | LANDLOCK_ACCESS_FS_MAKE_DIR;
  constexpr std::uint64_t kRights[] = {kRead, kAppend, kStore, kRemove};  // as Use counts
  return kRights[static_cast<std::size_t>(use)];
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
  // O_PATH needs no right to the file itself (open(2)).
  const Descriptor granted(::open(grant.path.c_str(), O_PATH | O_CLOEXEC));
  if (!granted) return;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights_of(grant.use) & denied.files;
  if (!is_folder(granted)) rule.allowed_access &= kOfFiles;
  rule.parent_fd = granted.number();
  // The kernel refuses rules for pipes, which Landlock does not limit.
  ::syscall(SYS_landlock_add_rule, ruleset.number(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0U);
}

// Read by the C library, c-ares and OpenSSL wherever the program runs.
constexpr const char* kAnywhere[] = {
    "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services",
    "/etc/protocols", "/etc/localtime", "/etc/ld.so.cache", "/etc/ssl/openssl.cnf",
    // The certificates of the system are links to files here.
    "/usr/share/ca-certificates", "/usr/local/share/ca-certificates",
    // glibc loads modules for name resolution when it needs them.
    "/lib", "/lib64", "/usr/lib", "/usr/share/zoneinfo", "/dev/null", "/dev/urandom", "/dev/random",
    // The allocator may read the first, to know whether memory can be promised. The second tells
    // the number of cores.
    "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu/online"};

// Each may name files, separated by colons.
constexpr const char* kVariables[] = {"SSL_CERT_DIR", "OPENSSL_CONF", "HOSTALIASES"};

// Symbolic links are resolved as far as the path exists.
path resolved(const path& named) {
  std::error_code error;
  const path absolute = std::filesystem::absolute(named, error);
  if (error) return named;
  path real = std::filesystem::weakly_canonical(absolute, error);
  if (error) return absolute;
  return real.has_filename() ? real : real.parent_path();  // without a final slash
}

Grant around(const path& named, Use use) {
  const path real = resolved(named);
  // The folder would grant files of others; of one file, a grant ends where it is replaced.
  if (is_shared(real.parent_path())) {
    if (use == Use::read) return {real, use};
    return {real, use, use == Use::append ? Make::file : Make::folder};
  }
  return {real.parent_path(), use};
}

// A log or a cache whose folder is missing may get it later, in the nearest folder above. If others
// keep files there, the folder is made now, since the sandbox could not grant it later.
Grant for_writing(const path& named, Use use) {
  Grant grant = around(named, use);
  std::error_code error;
  if (grant.make != Make::nothing || std::filesystem::exists(grant.path, error)) return grant;
  auto above = machine::own_folder_above(grant.path);
  if (above.empty()) return {grant.path, use, Make::folder};
  grant.path = std::move(above);
  return grant;
}

void add_listed(std::vector<Grant>& grants, std::string_view names) {
  while (!names.empty()) {
    const auto name = config::take_until(names, ':');
    if (!name.empty()) grants.push_back({resolved(path(name))});
  }
}

void add_for_settings(std::vector<Grant>& grants, const config::Settings& settings) {
  for (const auto& file : settings.process.included) grants.push_back(around(file, Use::read));
  for (const auto& list : settings.access.lists.block) grants.push_back(around(list, Use::read));
  for (const auto& list : settings.access.lists.allow) grants.push_back(around(list, Use::read));
  if (const auto& users = settings.access.users) grants.push_back(around(users->file, Use::read));
  if (!settings.pages.folder.empty())
    grants.push_back({resolved(settings.pages.folder), Use::read});
  for (const auto& mapping : settings.gateway.reverse) {
    if (!mapping.known.empty()) grants.push_back(around(mapping.known, Use::read));
  }
  for (const auto& [host, file] : settings.gateway.mirrors.ca) {
    grants.push_back(around(file, Use::read));
  }
  if (settings.log.access == config::LogTarget::file) {
    grants.push_back(for_writing(settings.log.path, Use::append));
  }
  const auto control = config::control_path(settings);
  const auto folder = resolved(control).parent_path();
  if (!control.empty() && !is_shared(folder)) grants.push_back({folder, Use::remove});
  if (const auto& disk = settings.cache.disk) {
    grants.push_back(for_writing(disk->path, Use::store));
  }
}

void add_for_libraries(std::vector<Grant>& grants) {
  for (const char* const name : kAnywhere) grants.push_back({name});
  if (::geteuid() != 0) grants.push_back({"/etc"});
  // A link on many systems, to a file in /run that is replaced when the network changes.
  grants.push_back(around("/etc/resolv.conf", Use::read));
  add_listed(grants, X509_get_default_cert_file());
  add_listed(grants, X509_get_default_cert_dir());
  // Read again, perhaps as a new file, when the settings are.
  const char* const trusted = std::getenv("SSL_CERT_FILE");
  if (trusted && *trusted != '\0') grants.push_back(around(trusted, Use::read));
  for (const char* const variable : kVariables) {
    const char* const names = std::getenv(variable);
    if (names) add_listed(grants, names);
  }
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

std::vector<Grant> grants_for(const config::Settings& settings, const path& settings_file) {
  std::vector<Grant> grants{around(settings_file, Use::read)};
  add_for_settings(grants, settings);
  add_for_libraries(grants);
  return grants;
}

}  // namespace proxy::machine::sandbox
