// Folders in which others than we keep files.
#pragma once

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>

#include "proxy/machine/nearest.hpp"

namespace proxy::machine {

inline bool is_shared(const std::filesystem::path& folder) {
  constexpr std::string_view kShared[] = {"/",      "/boot",      "/etc",  "/etc/ssl", "/home",
                                          "/media", "/opt",       "/root", "/run",     "/tmp",
                                          "/usr",   "/usr/local", "/var",  "/var/lib"};
  constexpr std::string_view kSystem[] = {"/dev/", "/proc/", "/sys/"};
  const std::string text = folder.native();
  const std::string below = text + '/';
  return std::find(std::begin(kShared), std::end(kShared), text) != std::end(kShared) ||
         std::any_of(std::begin(kSystem), std::end(kSystem),
                     [&](std::string_view system) { return below.starts_with(system); }) ||
         folder.parent_path() == "/home";
}

// The nearest folder that exists above a missing one, which the sandbox may grant until the missing
// one is there. Empty: others keep files there, so the sandbox must not.
inline std::filesystem::path own_folder_above(const std::filesystem::path& missing) {
  constexpr std::string_view kOfMany[] = {"/mnt",     "/srv",       "/var/cache",
                                          "/var/log", "/var/spool", "/var/tmp"};
  auto folder = nearest_that_exists(missing);
  const bool is_of_many =
      std::find(std::begin(kOfMany), std::end(kOfMany), folder.native()) != std::end(kOfMany);
  if (is_shared(folder) || is_of_many) folder.clear();
  return folder;
}

}  // namespace proxy::machine
