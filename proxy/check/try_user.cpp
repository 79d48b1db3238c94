#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "proxy/check/try_out.hpp"
#include "proxy/machine/folders.hpp"
#include "proxy/machine/places.hpp"
#include "proxy/machine/privileges.hpp"

namespace proxy {
namespace {

namespace fs = std::filesystem;

bool is_missing(const std::string& user) {
  return !user.empty() && !machine::account_of(user);
}

// Why this user cannot write there, whatever root gives it; empty if it can.
std::string why_not(const fs::path& path) {
  const auto found = machine::nearest_that_exists(path);
  const bool is_there = found == fs::absolute(path).lexically_normal();
  const bool is_folder = fs::is_directory(found);
  struct stat status {};
  const auto look = is_folder ? ::stat : ::lstat;
  const bool is_roots = look(found.c_str(), &status) == 0 && status.st_uid == 0;
  // As machine/places gives it.
  const bool may_be_given = is_folder || (S_ISREG(status.st_mode) && status.st_nlink == 1);
  const bool is_given = is_there && is_roots && may_be_given;
  const int needed = !is_there ? X_OK : is_folder ? W_OK | X_OK : W_OK;
  if (is_given || ::access(found.c_str(), needed) == 0) return {};
  return fmt::format("{}: {}", found.native(), std::generic_category().message(errno));
}

void try_own(const fs::path& path, const std::string& place, Trial& into) {
  const auto why = why_not(path);
  if (why.empty()) return;
  into.warnings.push_back(fmt::format("{}: {} cannot be written by a proxy that {}: {}", place,
                                      path.native(), machine::describe_user(), why));
}

}  // namespace

void try_user(const config::Settings& settings, Trial& into) {
  if (is_missing(settings.user)) {
    into.errors.push_back(fmt::format("user: there is no user {}", settings.user));
  } else if (auto why = machine::why_root(settings.user); !why.empty()) {
    into.warnings.push_back("user: " + std::move(why));
  } else if (const auto account = machine::account_to_become(settings.user)) {
    auto tried = machine::tried_places(settings, *account);
    std::move(tried.forbidden.begin(), tried.forbidden.end(), std::back_inserter(into.errors));
    std::move(tried.refused.begin(), tried.refused.end(), std::back_inserter(into.warnings));
  }
}

void try_as_user(const config::Settings& settings, Trial& into) {
  if (is_missing(settings.user)) return;
  const auto account = machine::account_to_become(settings.user);
  if (!account) return;
  machine::become(*account);
  if (settings.cache.disk) try_own(settings.cache.disk->path, "cache.disk.path", into);
  if (settings.log.access == config::LogTarget::file) {
    try_own(settings.log.path, "log.access", into);
  }
}

}  // namespace proxy
