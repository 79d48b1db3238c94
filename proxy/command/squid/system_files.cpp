#include "proxy/command/squid/system_files.hpp"

#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

namespace proxy::command::squid {
namespace {

std::optional<std::string> read(const std::string& path) {
  std::error_code error;
  const bool is_ordinary = std::filesystem::is_regular_file(path, error);
  if (!is_ordinary) {
    errno = error ? error.value() : EINVAL;
    if (std::filesystem::is_directory(path, error)) errno = EISDIR;
    return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return std::nullopt;
  std::string text(std::min<std::uintmax_t>(std::filesystem::file_size(path, error), kMostBytes),
                   '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return std::nullopt;
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

std::vector<std::string> matching(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  return paths;
}

}  // namespace

Files system_files() {
  return {read, matching};
}

}  // namespace proxy::command::squid
