#include "config/control.hpp"

#include <unistd.h>

#include <filesystem>

namespace config {

std::string control_path(const Settings& settings) {
  if (settings.control) return *settings.control;
  const auto folder = std::filesystem::path(kDefaultControl).parent_path();
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? kDefaultControl : "";
}

}  // namespace config
