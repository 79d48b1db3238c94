#include "proxy/machine/places.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "config/control.hpp"

namespace proxy::machine {
namespace {

namespace fs = std::filesystem;

struct CloseListing {
  void operator()(DIR* listing) const { ::closedir(listing); }
};

[[noreturn]] void cannot(const std::string& what) {
  throw std::system_error(errno, std::system_category(), what);
}

// Gives what is root's. A file that has a second name stays root's: that may be a precious one.
void give(int opened, const Account& account, mode_t type) {
  struct stat status {};
  if (::fstat(opened, &status) != 0 || status.st_uid != 0) return;
  if ((status.st_mode & S_IFMT) != type || (type != S_IFDIR && status.st_nlink > 1)) return;
  if (::fchownat(opened, "", account.user, account.group, AT_EMPTY_PATH) != 0) cannot("chown");
}

void give_in(int folder, const char* name, const Account& account, mode_t type) {
  const Descriptor opened(::openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (opened) give(opened.number(), account, type);
}

void give_contents(int folder, const Account& account) {
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseListing> listing(copy < 0 ? nullptr : ::fdopendir(copy));
  if (!listing) cannot("cannot be listed");
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
  cannot(fmt::format(
      "user {0} cannot write it, and root gives away nothing in a folder that others may change "
      "(\"chown -h {0} {1}\" if that is the log, else remove it)",
      account.name, file.native()));
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
  const std::string path = settings.control.value_or(config::kDefaultControl);
  if (path.empty()) return {};
  const auto folder = fs::absolute(path).parent_path();
  return give_place("control", path, [&] { const Walk walk(folder, account, Missing::leave); });
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
  if (!made && errno != EEXIST) cannot("it cannot be made");
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

}  // namespace proxy::machine
