#include "proxy/machine/places.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "config/load.hpp"

namespace proxy::machine {
namespace {

namespace fs = std::filesystem;

struct CloseListing {
  void operator()(DIR* listing) const { ::closedir(listing); }
};

[[noreturn]] void fail(const fs::path& where, int error) {
  throw std::system_error(error, std::system_category(), where.native());
}

// Gives what is root's. A file that has a second name stays root's: that may be a precious one.
void give(int opened, const Account& account, mode_t type) {
  struct stat status {};
  // By the descriptor: between a look by name and the chown the name could get another file.
  if (::fstat(opened, &status) != 0 || status.st_uid != 0) return;
  if ((status.st_mode & S_IFMT) != type || (type != S_IFDIR && status.st_nlink > 1)) return;
  if (::fchownat(opened, "", account.user, account.group, AT_EMPTY_PATH) != 0) fail("chown", errno);
}

void give_in(int folder, const char* name, const Account& account, mode_t type) {
  const Descriptor opened(::openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (opened) give(opened.number(), account, type);
}

void give_contents(int folder, const Account& account) {
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseListing> listing(copy < 0 ? nullptr : ::fdopendir(copy));
  if (!listing) fail("cannot be listed", errno);
  while (const dirent* const item = ::readdir(listing.get())) {
    give_in(folder, item->d_name, account, S_IFREG);
  }
}

// Tries with the rights of the account. Root gives nothing in a folder that the account may change:
// the account may have put a link, or a file of root's from elsewhere, under this name.
void try_to_write(int folder, const fs::path& file, const Account& account) {
  const bool is_refused =
      ::faccessat(folder, file.filename().c_str(), W_OK, AT_EACCESS) != 0 && errno == EACCES;
  if (!is_refused) return;
  fail(fmt::format(
           "user {0} cannot write it, and root gives away nothing in a folder that others may "
           "change (\"chown -h {0} {1}\" if that is the log, else remove it)",
           account.name, file.native()),
       EACCES);
}

// Returns what the system refuses, as it may do for a while: a missing or read-only file system.
template <class Give>
Refusals give_place(std::string_view setting, const std::string& path, Give give) {
  const auto text = [&](const std::runtime_error& error) {
    return fmt::format("{} {}: {}", setting, path, error.what());
  };
  try {
    give();
    return {};
  } catch (const std::system_error& error) {
    return {text(error)};
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(text(error));
  }
}

Refusals give_cache(const config::Settings& settings, const Account& account, Missing missing) {
  const auto& disk = settings.cache.disk;
  if (!disk) return {};
  return give_place("cache.disk.path", disk->path,
                    [&] { give_folder(disk->path, account, missing); });
}

Refusals give_log(const config::Settings& settings, const Account& account, Missing missing) {
  const auto& log = settings.log;
  if (log.access != config::LogTarget::file) return {};
  return give_place("log.access", log.path, [&] { give_file(log.path, account, missing); });
}

Refusals find_control(const config::Settings& settings, const Account& account) {
  const std::string path = settings.process.control.value_or(config::kDefaultControl);
  if (path.empty()) return {};
  const auto folder = fs::absolute(path).parent_path();
  return give_place("control", path, [&] { const Walk walk(folder, account, Missing::leave); });
}

constexpr int kMostLinks = 40;  // as in Linux

std::deque<std::string> names_in(const fs::path& path) {
  std::deque<std::string> names;
  for (const auto& name : path.relative_path()) {
    if (!name.empty() && name != ".") names.push_back(name);
  }
  return names;
}

std::string name_of(uid_t user) {
  const passwd* const entry = ::getpwuid(user);
  return entry ? entry->pw_name : std::to_string(user);
}

std::string target_of(const Descriptor& link, const fs::path& where) {
  std::array<char, PATH_MAX> target{};
  const auto size = ::readlinkat(link.number(), "", target.data(), target.size());
  if (size < 0) fail(where, errno);
  return {target.data(), static_cast<std::size_t>(size)};
}

}  // namespace

void give_folder(const fs::path& folder, const Account& account, Missing missing) {
  const Walk walk(folder, account, missing);
  if (missing == Missing::leave || !walk.is_roots()) return;
  give_contents(walk.folder(), account);
  give(walk.folder(), account, S_IFDIR);
}

void give_file(const fs::path& file, const Account& account, Missing missing) {
  const Walk walk(fs::absolute(file).parent_path(), account, missing);
  if (walk.folder() < 0) return;
  if (!walk.is_roots()) return try_to_write(walk.folder(), file, account);
  if (missing == Missing::leave) return;
  // Makes no file through a link, and none in place of a pipe.
  const Descriptor made(::openat(walk.folder(), file.filename().c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640));
  if (!made && errno != EEXIST) fail("it cannot be made", errno);
  give_in(walk.folder(), file.filename().c_str(), account, S_IFREG);
}

void give_socket(int folder, const fs::path& name, const Account& account) {
  give_in(folder, name.c_str(), account, S_IFSOCK);
}

Refusals give_places(const config::Settings& settings, const Account& account) {
  auto refusals = give_cache(settings, account, Missing::make);
  for (auto& more : give_log(settings, account, Missing::make)) refusals.push_back(std::move(more));
  return refusals;
}

TriedPlaces tried_places(const config::Settings& settings, const Account& account) {
  TriedPlaces tried;
  const auto try_one = [&](auto place) {
    try {
      for (auto& refusal : place(settings, account)) tried.refused.push_back(std::move(refusal));
    } catch (const std::runtime_error& error) {
      tried.forbidden.emplace_back(error.what());
    }
  };
  try_one([](auto&... all) { return give_cache(all..., Missing::leave); });
  try_one([](auto&... all) { return give_log(all..., Missing::leave); });
  try_one(find_control);
  return tried;
}

Acting::Acting(const Account& account) : group_(::getegid()) {
  const int count = ::getgroups(0, nullptr);
  groups_.resize(static_cast<std::size_t>(std::max(count, 0)));
  if (::getgroups(count, groups_.data()) != count ||
      ::initgroups(account.name.c_str(), account.group) != 0 || ::setegid(account.group) != 0 ||
      ::seteuid(account.user) != 0) {
    fail("user: cannot act as " + account.name, errno);
  }
}

Acting::~Acting() {
  const bool is_back = ::seteuid(0) == 0 && ::setegid(group_) == 0 &&
                       ::setgroups(groups_.size(), groups_.data()) == 0;
  if (!is_back) std::abort();  // with rights that nobody expects
}

Walk::Walk(const fs::path& folder, const Account& account, Missing missing)
    : account_(account),
      missing_(missing),
      wanted_(fs::absolute(folder)),
      rest_(names_in(wanted_)) {
  start();
  while (at_ && !rest_.empty()) {
    const auto name = std::move(rest_.front());
    rest_.pop_front();
    step(name);
  }
  if (at_ && is_shared_) act_as_account();
}

void Walk::start() {
  where_ = "/";
  enter(Descriptor(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)));
}

void Walk::step(const std::string& name) {
  Descriptor next(::openat(at_.number(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!next && errno == ENOENT) return make(name);
  const auto item = where_ / name;
  if (!next && acting_) fail("user " + account_.name + " cannot open " + item.native(), errno);
  if (!next) fail(item, errno);
  struct stat status {};
  if (::fstat(next.number(), &status) != 0) fail(item, errno);
  const bool is_folder = S_ISDIR(status.st_mode);
  // In a shared folder with the sticky bit, nobody but root could have put a folder of root's.
  if (status.st_uid != 0 || (is_shared_ && !is_folder)) act_as_account();
  check_owner(item, status);
  if (S_ISLNK(status.st_mode)) return follow(next);
  if (!is_folder) fail(item, ENOTDIR);
  where_ = name == ".." ? where_.parent_path() : item;
  enter(std::move(next));
}

void Walk::follow(const Descriptor& link) {
  if (++links_ > kMostLinks) fail(wanted_, ELOOP);
  const fs::path target = target_of(link, where_);
  const auto names = names_in(target);
  rest_.insert(rest_.begin(), names.begin(), names.end());
  if (target.is_absolute()) start();
}

void Walk::make(const std::string& name) {
  const auto folder = where_ / name;
  if (missing_ == Missing::leave) {
    at_ = Descriptor();
    return;
  }
  if (is_shared_) act_as_account();
  const bool is_last = rest_.empty();
  if (::mkdirat(at_.number(), name.c_str(), is_last ? 0700 : 0755) != 0 && errno != EEXIST) {
    const int cause = errno;
    if (is_roots()) fail(folder.native() + " cannot be made", cause);
    fail(fmt::format(
             "user {0} cannot make {1}, and root makes nothing where others may change it (make "
             "it yourself, for instance by \"install -d -m 0700 -o {0} {2}\")",
             account_.name, folder.native(), wanted_.native()),
         cause);
  }
  Descriptor made(
      ::openat(at_.number(), name.c_str(), O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC));
  if (!made) fail(folder, errno);
  if (is_last && is_roots() &&
      ::fchownat(made.number(), "", account_.user, account_.group, AT_EMPTY_PATH) != 0) {
    fail(folder, errno);
  }
  where_ = folder;
  enter(std::move(made));
}

void Walk::enter(Descriptor folder) {
  struct stat status {};
  if (!folder || ::fstat(folder.number(), &status) != 0) fail(where_, errno);
  check_owner(where_, status);
  const bool is_sticky = (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & S_IWOTH) != 0 && !is_sticky) {
    throw std::runtime_error(
        fmt::format("every user may change {0}: take that right away (\"chmod o-w {0}\"), or name "
                    "another folder",
                    where_.native()));
  }
  // A group may have members that nobody here knows, so it counts like everybody.
  is_shared_ = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (status.st_uid != 0 || (is_shared_ && !is_sticky)) act_as_account();
  at_ = std::move(folder);
}

void Walk::act_as_account() {
  if (!acting_) acting_.emplace(account_);
}

void Walk::check_owner(const fs::path& item, const struct stat& status) const {
  if (status.st_uid == 0 || status.st_uid == account_.user) return;
  throw std::runtime_error(fmt::format(
      "user {0} may change {1}, which is on the way of root and user {2}: give it to one of these "
      "(\"chown -h root {1}\"), or name another folder",
      name_of(status.st_uid), item.native(), account_.name));
}

}  // namespace proxy::machine
