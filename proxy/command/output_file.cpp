#include "proxy/command/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace proxy::command {
namespace {

Trouble exists(const std::string& path) {
  return {fmt::format("{}: exists already; choose another name, or replace it with --force", path)};
}

// 0, or errno.
int write_whole(int file, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
    if (written < 0 && errno != EINTR) return errno;
  }
  return ::fsync(file) == 0 ? 0 : errno;
}

int publish(const std::string& temporary, const std::string& path, Existing existing) {
  if (existing == Existing::replace) {
    return ::rename(temporary.c_str(), path.c_str()) == 0 ? 0 : errno;
  }
  // link() fails if the name exists; rename() would replace the file.
  const int error = ::link(temporary.c_str(), path.c_str()) == 0 ? 0 : errno;
  ::unlink(temporary.c_str());
  return error;
}

mode_t mode_for(FileAccess access) {
  if (access == FileAccess::owner) return 0600;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

Result<void> may_write(const std::string& path, Existing existing) {
  struct stat status {};
  const bool there = ::stat(path.c_str(), &status) == 0;
  if (there && existing == Existing::keep) return exists(path);
  if (there && !S_ISREG(status.st_mode)) {
    return Trouble{fmt::format("{}: is no ordinary file, and is not replaced", path)};
  }
  return {};
}

Result<void> write_file(const std::string& path, std::span<const std::uint8_t> bytes,
                        Existing existing, FileAccess access) {
  if (auto allowed = may_write(path, existing); !allowed) return allowed.error();
  std::string temporary = path + ".XXXXXX";
  const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return system_trouble(path, errno);
  int error = ::fchmod(file, mode_for(access)) == 0 ? write_whole(file, bytes) : errno;
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0) error = publish(temporary, path, existing);
  if (error == 0) return {};
  ::unlink(temporary.c_str());
  if (error == EEXIST) return exists(path);
  return system_trouble(path, error);
}

}  // namespace proxy::command
