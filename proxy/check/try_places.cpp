#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "proxy/check/try_out.hpp"
#include "proxy/machine/folders.hpp"

namespace proxy::check {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) {
  return std::generic_category().message(error);
}

// Why this user cannot create files in the folder; empty if it can.
std::string why_not_writable(const fs::path& folder) {
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? "" : reason(errno);
}

// What helps if nobody can write there, for the end of a message.
std::string advice_on(const fs::path& folder) {
  const auto advice = machine::read_only_advice(folder);
  return advice.empty() ? "" : "; " + advice;
}

// Whether the kernel keeps the folder, in which nobody can create files. access() lets root write
// anywhere, also there.
bool is_of_kernel(const fs::path& folder) {
  constexpr decltype(statfs::f_type) kOfKernel[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC,
                                                    CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC};
  struct statfs facts {};
  if (::statfs(folder.c_str(), &facts) != 0) return false;
  return std::find(std::begin(kOfKernel), std::end(kOfKernel), facts.f_type) != std::end(kOfKernel);
}

// What the files of a folder take on disk; files that cannot be looked at count nothing.
std::uint64_t taken_by(const fs::path& folder) {
  constexpr std::uint64_t kBlock = 512;  // of st_blocks
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    struct stat facts {};
    if (::lstat(at->path().c_str(), &facts) == 0) {
      // Not the size: a file may have holes.
      bytes += static_cast<std::uint64_t>(facts.st_blocks) * kBlock;
    }
  }
  return bytes;
}

void try_room(const config::DiskSettings& disk, const fs::path& folder, CheckReport& into) {
  struct statvfs room {};
  if (::statvfs(folder.c_str(), &room) != 0) return;
  // Without the blocks that the file system keeps for root.
  const auto free = static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize;
  if (free >= disk.size.value) return;
  const auto has = free + taken_by(disk.path);  // the files of the cache make room for newer ones
  if (has >= disk.size.value) return;
  into.warnings.push_back(
      fmt::format("cache.disk.size: {} MiB are more than the file system of {} has room for "
                  "({} MiB)",
                  disk.size.value >> 20, folder.native(), has >> 20));
}

void try_disk(const config::DiskSettings& disk, CheckReport& into) {
  const auto found = machine::nearest_that_exists(disk.path);
  std::error_code error;
  if (!fs::is_directory(found, error)) {
    into.warnings.push_back(fmt::format("cache.disk.path: {} is no directory", found.native()));
    return;
  }
  if (is_of_kernel(found)) {
    into.warnings.push_back(fmt::format(
        "cache.disk.path: {} cannot be made: {} is of the kernel, and can hold no files", disk.path,
        found.native()));
    return;
  }
  if (const auto why = why_not_writable(found); !why.empty()) {
    into.warnings.push_back(fmt::format("cache.disk.path: {} cannot be written by this user: {}{}",
                                        found.native(), why, advice_on(disk.path)));
  } else if (!fs::exists(disk.path, error)) {
    into.notes.push_back(fmt::format("cache.disk.path: {} will be made", disk.path));
  }
  try_room(disk, found, into);
}

void try_log(const config::LogSettings& log, CheckReport& into) {
  if (log.access != config::LogTarget::file) return;
  std::error_code error;
  const fs::path path(log.path);
  const auto folder = fs::absolute(path, error).parent_path();
  std::string why;
  if (fs::is_directory(path, error)) {
    why = "it is a directory";
  } else if (fs::exists(path, error)) {
    if (::access(path.c_str(), W_OK) != 0) why = reason(errno);
  } else if (!fs::exists(folder, error) &&
             (::geteuid() == 0 || machine::own_folder_above(folder).empty())) {
    // As root, the proxy makes it, and where the sandbox could not grant it later.
    const auto found = machine::nearest_that_exists(folder);
    if (!fs::is_directory(found, error)) {
      why = fmt::format("{} is no directory", found.native());
    } else if (why = why_not_writable(found); why.empty()) {
      into.notes.push_back(fmt::format("log.access: {} will be made", folder.native()));
    }
  } else if (!fs::is_directory(folder, error)) {
    why = fmt::format("there is no directory {}", folder.native());
  } else {
    why = why_not_writable(folder);
  }
  if (!why.empty()) {
    into.warnings.push_back(fmt::format("log.access: {} cannot be written by this user: {}{}",
                                        log.path, why, advice_on(folder)));
  }
}

// What the settings have the proxy write.
struct WrittenPath {
  bool is_log = false;
  std::string path;
  fs::path folder;
};

std::vector<WrittenPath> written_paths(const config::Settings& settings) {
  std::vector<WrittenPath> paths;
  if (const auto& disk = settings.cache.disk) paths.push_back({false, disk->path, disk->path});
  if (settings.log.access == config::LogTarget::file) {
    std::error_code error;
    const auto& path = settings.log.path;
    paths.push_back({true, path, fs::absolute(path, error).parent_path()});
  }
  return paths;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::string text_of_read_only(const WrittenPath& written, const machine::ServiceUnit& unit) {
  return fmt::format("{}: {} cannot be written: {}",
                     written.is_log ? "log.access" : "cache.disk.path", written.path,
                     machine::drop_in_for(unit.name, written.folder));
}

}  // namespace

void try_places(const config::Settings& settings, const machine::ServiceUnit* unit,
                CheckReport& into) {
  const auto of_unit = [&](const WrittenPath& written) {
    if (!unit) return false;
    if (unit->lets_write(written.folder))
      return unit->makes(written.folder) && !is_there(written.folder);
    into.warnings.push_back(text_of_read_only(written, *unit));
    return true;
  };
  for (const WrittenPath& written : written_paths(settings)) {
    if (of_unit(written)) continue;
    if (written.is_log) {
      try_log(settings.log, into);
    } else {
      try_disk(*settings.cache.disk, into);
    }
  }
}

void record_places_of(const config::Settings& settings, const machine::ServiceUnit& unit,
                      CheckReport& into) {
  for (const WrittenPath& written : written_paths(settings)) {
    if (unit.lets_write(written.folder)) continue;
    into.notes.push_back("before these are the settings of the service: " +
                         text_of_read_only(written, unit));
  }
}

}  // namespace proxy::check
