// Paths of which a part may not exist yet.
#pragma once

#include <filesystem>

namespace proxy::machine {

// The path itself if it exists, as far as this user can see, else the folder above it that does.
inline std::filesystem::path nearest_that_exists(std::filesystem::path path) {
  std::error_code error;
  path = std::filesystem::absolute(path, error).lexically_normal();
  while (!std::filesystem::exists(path, error) && path.has_relative_path()) {
    path = path.parent_path();
  }
  return path;
}

}  // namespace proxy::machine
