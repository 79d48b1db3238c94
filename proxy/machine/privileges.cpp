#include "proxy/machine/privileges.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "config/control.hpp"

namespace proxy::machine {
namespace {

constexpr const char* kDefaultUser = "hearsay";
constexpr std::size_t kLongestEntry = 64 * 1024;  // of the user data base

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::system_category(), what);
}

class Opened {
 public:
  Opened(const std::filesystem::path& path, int how)
      : number_(::open(path.c_str(), how | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0640)) {
    if (number_ < 0) fail(path);
  }
  ~Opened() { ::close(number_); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  // Only what is root's is given away, and no file that has a second name: another user may have
  // linked it here.
  void give(const Account& account) const {
    struct stat status {};
    if (::fstat(number_, &status) != 0 || status.st_uid != 0) return;
    const bool is_folder = S_ISDIR(status.st_mode);
    if (!is_folder && (!S_ISREG(status.st_mode) || status.st_nlink > 1)) return;
    if (::fchown(number_, account.user, account.group) != 0) fail("chown");
  }
  void give_socket(const Account& account) const {
    struct stat status {};
    if (::fstat(number_, &status) != 0 || status.st_uid != 0) return;
    if (!S_ISSOCK(status.st_mode) || status.st_nlink > 1) return;
    if (::fchownat(number_, "", account.user, account.group, AT_EMPTY_PATH) != 0) fail("chown");
  }

 private:
  int number_;
};

void make_parents(const std::filesystem::path& path) {
  const auto parent = std::filesystem::absolute(path).parent_path();
  std::filesystem::create_directories(parent);
}

}  // namespace

std::optional<Account> account_of(const std::string& name) {
  std::vector<char> room(kLongestEntry);
  passwd entry{};
  passwd* found = nullptr;
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

void give_folder(const std::filesystem::path& folder, const Account& account) {
  make_parents(folder);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) fail(folder);
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) fail(folder);
  if (status.st_uid != 0) return;  // another user may have put links here
  for (const auto& item : std::filesystem::directory_iterator(folder)) {
    if (item.symlink_status().type() == std::filesystem::file_type::regular) {
      Opened(item.path(), O_RDONLY).give(account);
    }
  }
  if (::chown(folder.c_str(), account.user, account.group) != 0) fail(folder);
}

void give_file(const std::filesystem::path& file, const Account& account) {
  const auto parent = std::filesystem::absolute(file).parent_path();
  if (!std::filesystem::exists(parent)) give_folder(parent, account);
  // A link or a pipe is the operator's arrangement, and nothing to give away.
  const auto type = std::filesystem::symlink_status(file).type();
  const bool is_ours =
      type == std::filesystem::file_type::not_found || type == std::filesystem::file_type::regular;
  if (!is_ours) return;
  Opened(file, O_WRONLY | O_APPEND | O_CREAT).give(account);
}

// By a descriptor of the file itself: its name may lead elsewhere by the time it is given.
void give_socket(const std::filesystem::path& socket, const Account& account) {
  const Opened opened(socket, O_PATH);
  opened.give_socket(account);
}

void give_places(const config::Settings& settings, const Account& account) {
  if (settings.cache.disk) give_folder(settings.cache.disk->path, account);
  if (settings.log.access == config::LogTarget::file) give_file(settings.log.path, account);
  const auto control = std::filesystem::path(settings.control.value_or(config::kDefaultControl));
  const auto folder = control.parent_path();
  if (!folder.empty() && !std::filesystem::exists(folder)) give_folder(folder, account);
}

void become(const Account& account) {
  if (::initgroups(account.name.c_str(), account.group) != 0 ||
      ::setresgid(account.group, account.group, account.group) != 0 ||
      ::setresuid(account.user, account.user, account.user) != 0) {
    fail("user: cannot become " + account.name);
  }
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
