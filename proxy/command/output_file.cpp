#include "proxy/command/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace proxy::command {
namespace {

Trouble exists(const std::string& path) {
  return {fmt::format("{}: is there already; choose another name, or --force to replace it", path)};
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

int publish(const std::string& meanwhile, const std::string& path, Existing existing) {
  if (existing == Existing::replace) {
    return ::rename(meanwhile.c_str(), path.c_str()) == 0 ? 0 : errno;
  }
  // A link, not a rename: it replaces nothing.
  const int error = ::link(meanwhile.c_str(), path.c_str()) == 0 ? 0 : errno;
  ::unlink(meanwhile.c_str());
  return error;
}

mode_t mode_for(Readers readers) {
  if (readers == Readers::owner) return 0600;
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
    return Trouble{fmt::format("{}: is no ordinary file, so it is not replaced", path)};
  }
  return {};
}

Result<void> write_file(const std::string& path, std::span<const std::uint8_t> bytes,
                        Existing existing, Readers readers) {
  if (auto allowed = may_write(path, existing); !allowed) return allowed.error();
  std::string meanwhile = path + ".XXXXXX";
  const int file = ::mkostemp(meanwhile.data(), O_CLOEXEC);
  if (file < 0) return system_trouble(path, errno);
  int error = ::fchmod(file, mode_for(readers)) == 0 ? write_whole(file, bytes) : errno;
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0) error = publish(meanwhile, path, existing);
  if (error == 0) return {};
  ::unlink(meanwhile.c_str());
  if (error == EEXIST) return exists(path);
  return system_trouble(path, error);
}

}  // namespace proxy::command
