#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "config/load.hpp"
#include "proxy/check/try_out.hpp"
#include "proxy/machine/descriptor.hpp"
#include "proxy/machine/privileges.hpp"

namespace proxy {
namespace {

namespace fs = std::filesystem;

// What is at the path, if that is in the way; empty: nothing, or what a dead proxy has left.
std::string why_taken(const std::string& path, bool runs) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode)) return "a file that is no socket is there";
  const auto address = machine::local_address(path);
  const bool is_taken = address && !runs && machine::somebody_listens(*address);
  return is_taken ? "another proxy listens there; give this one another path, or \"none\"" : "";
}

// A proxy that becomes another user makes the folder and gives it away.
bool makes_folder(const config::Settings& settings) {
  const auto account = machine::account_of(settings.user.empty() ? "hearsay" : settings.user);
  return ::geteuid() == 0 && account && account->user != 0;
}

std::string why_no_folder(const config::Settings& settings, const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) {
    return makes_folder(settings) ? "" : fmt::format("there is no folder {}", folder.native());
  }
  if (!fs::is_directory(folder, error)) return fmt::format("{} is no folder", folder.native());
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return fmt::format("{} cannot be written by this user: {}", folder.native(),
                     std::generic_category().message(errno));
}

}  // namespace

void try_control(const config::Settings& settings, const machine::ServiceUnit* unit, bool runs,
                 Trial& into) {
  const auto path = config::control_path(settings);
  if (path.empty()) return;
  auto why = why_taken(path, runs);
  if (why.empty() && unit && unit->makes(path)) return;
  if (why.empty()) why = why_no_folder(settings, fs::path(path).parent_path());
  if (why.empty()) return;
  auto& where = settings.control ? into.errors : into.warnings;
  where.push_back(fmt::format("control: cannot listen at {}: {}", path, why));
}

}  // namespace proxy
