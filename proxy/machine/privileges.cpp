#include "proxy/machine/privileges.hpp"

#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace proxy::machine {
namespace {

constexpr const char* kDefaultUser = "hearsay";
constexpr std::size_t kLongestEntry = 64 * 1024;  // of the user data base

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::system_category(), what);
}

}  // namespace

std::optional<Account> account_of(const std::string& name) {
  std::vector<char> room(kLongestEntry);
  passwd entry{};
  passwd* found = nullptr;
  // Of the name service and not of /etc/passwd alone: accounts may come from LDAP.
  ::getpwnam_r(name.c_str(), &entry, room.data(), room.size(), &found);
  if (found == nullptr) return std::nullopt;
  return Account{name, entry.pw_uid, entry.pw_gid};
}

std::optional<Account> account_to_become(const std::string& wanted) {
  if (::geteuid() != 0) return std::nullopt;
  const auto account = account_of(wanted.empty() ? kDefaultUser : wanted);
  if (!account && !wanted.empty()) throw std::runtime_error("user: there is no user " + wanted);
  if (!account || account->user == 0) return std::nullopt;
  return account;
}

void become(const Account& account) {
  // In this order: a process that has given up its user cannot change its groups.
  if (::initgroups(account.name.c_str(), account.group) != 0 ||
      ::setresgid(account.group, account.group, account.group) != 0 ||
      ::setresuid(account.user, account.user, account.user) != 0) {
    fail("user: cannot become " + account.name);
  }
  // Proves that no saved user is left by which root comes back.
  if (::setuid(0) == 0) throw std::runtime_error("user: root's rights cannot be given up");
}

void give_up_capabilities() {
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  if (::syscall(SYS_capset, &header, none.data()) != 0) fail("capabilities cannot be given up");
}

void give_up_privileges(const std::optional<Account>& account) {
  if (account) return become(*account);
  if (::geteuid() != 0) give_up_capabilities();
}

std::string why_root(const std::string& wanted) {
  if (::geteuid() != 0 || !wanted.empty() || account_of(kDefaultUser)) return {};
  return "the proxy keeps root's rights: add a user \"hearsay\", or set \"user\" to another one "
         "(\"root\" if this is meant)";
}

std::string describe_user() {
  std::vector<char> room(kLongestEntry);
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(::geteuid(), &entry, room.data(), room.size(), &found);
  return "runs as user " + (found ? std::string(entry.pw_name) : std::to_string(::geteuid()));
}

}  // namespace proxy::machine
