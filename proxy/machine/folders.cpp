#include "proxy/machine/folders.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace proxy::machine {
namespace {

constexpr std::string_view kUsualService = "hearsay.service";

// systemd sets one of these for each service that it starts, and they are inherited.
bool is_service() {
  return std::getenv("NOTIFY_SOCKET") != nullptr || std::getenv("INVOCATION_ID") != nullptr;
}

bool is_read_only(const std::filesystem::path& folder) {
  struct statvfs facts {};
  return ::statvfs(folder.c_str(), &facts) == 0 && (facts.f_flag & ST_RDONLY) != 0;
}

// No variable of the environment tells the name, and a unit may be an instance of a template.
std::string service_of_cgroup() {
  std::ifstream file("/proc/self/cgroup", std::ios::binary);
  auto found = service_in(std::string(std::istreambuf_iterator<char>(file), {}));
  return found.empty() ? std::string(kUsualService) : found;
}

template <std::size_t kSize>
bool has(const std::string_view (&folders)[kSize], std::string_view folder) {
  return std::find(std::begin(folders), std::end(folders), folder) != std::end(folders);
}

}  // namespace

std::filesystem::path nearest_that_exists(std::filesystem::path path) {
  std::error_code error;
  path = std::filesystem::absolute(path, error).lexically_normal();
  while (!std::filesystem::exists(path, error) && path.has_relative_path()) {
    path = path.parent_path();
  }
  return path;
}

bool is_shared(const std::filesystem::path& folder) {
  constexpr std::string_view kShared[] = {"/",      "/boot",      "/etc",  "/etc/ssl", "/home",
                                          "/media", "/opt",       "/root", "/run",     "/tmp",
                                          "/usr",   "/usr/local", "/var",  "/var/lib"};
  constexpr std::string_view kSystem[] = {"/dev/", "/proc/", "/sys/"};
  const std::string text = folder.native();
  const std::string below = text + '/';
  return has(kShared, text) ||
         std::any_of(std::begin(kSystem), std::end(kSystem),
                     [&](std::string_view system) { return below.starts_with(system); }) ||
         folder.parent_path() == "/home";
}

std::filesystem::path own_folder_above(const std::filesystem::path& missing) {
  constexpr std::string_view kOfMany[] = {"/mnt",     "/srv",       "/var/cache",
                                          "/var/log", "/var/spool", "/var/tmp"};
  auto folder = nearest_that_exists(missing);
  if (is_shared(folder) || has(kOfMany, folder.native())) folder.clear();
  return folder;
}

const std::string& own_service() {
  static const std::string service = service_of_cgroup();
  return service;
}

std::string service_in(std::string_view proc_self_cgroup) {
  constexpr std::string_view kEnd = ".service";
  const auto end = proc_self_cgroup.rfind(kEnd);
  if (end == proc_self_cgroup.npos) return {};
  const auto upto = proc_self_cgroup.substr(0, end + kEnd.size());
  return std::string(upto.substr(upto.find_last_of("/\n") + 1));
}

std::string drop_in_for(const std::string& service, const std::filesystem::path& folder) {
  return fmt::format(
      "systemd keeps it read-only for {0}: put the lines \"[Service]\" and \"ReadWritePaths=-{1}\" "
      "into /etc/systemd/system/{0}.d/paths.conf, make {1} for the user of the proxy, then run "
      "\"systemctl daemon-reload\" and \"systemctl restart {0}\"",
      service, folder.native());
}

std::string read_only_advice(const std::filesystem::path& folder) {
  if (!is_read_only(nearest_that_exists(folder))) return {};
  if (is_service()) return drop_in_for(own_service(), folder);
  return "its file system is read-only: mount it, or a volume there, for writing";
}

WriteAdvice write_advice(const std::filesystem::path& folder, const std::filesystem::path& item) {
  constexpr const char* kWhy =
      "restart the proxy: its sandbox lets it write only in folders that were there at its start";
  if (auto text = read_only_advice(folder); !text.empty()) return {std::move(text), is_service()};
  std::error_code error;
  if (!std::filesystem::exists(folder, error) && !error) {
    auto make = fmt::format("make the folder {} for the user of the proxy", folder.native());
    if (own_folder_above(folder).empty()) return {fmt::format("{}, then {}", make, kWhy), true};
    return {std::move(make), false};
  }
  // access(2) is not limited by the sandbox, so its answer tells of the user alone.
  const auto found = nearest_that_exists(item);
  const bool is_folder = std::filesystem::is_directory(found, error);
  if (::access(found.c_str(), is_folder ? W_OK | X_OK : W_OK) == 0) return {kWhy, true};
  return {fmt::format("give the folder {} to the user of the proxy", folder.native()), false};
}

}  // namespace proxy::machine
