#include "proxy/check/try_out.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <ostream>
#include <system_error>

#include "config/counted.hpp"
#include "config/load.hpp"
#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/crowd/descriptors.hpp"
#include "proxy/machine/folders.hpp"
#include "proxy/machine/limits.hpp"
#include "proxy/machine/places.hpp"
#include "proxy/machine/privileges.hpp"

namespace proxy::check {
namespace {

namespace fs = std::filesystem;

void become_user_of(const machine::ServiceUnit& unit, CheckReport& into) {
  const auto account = machine::account_of(unit.user);
  if (!account) {
    into.errors.push_back(fmt::format("{}: there is no user {}", unit.name, unit.user));
  } else if (account->user != 0) {
    // What root may write tells nothing of what the service may.
    machine::become(*account);
  }
}

// What is at the path, if that is in the way; empty: nothing, or what a dead proxy has left.
std::string why_taken(const std::string& path, const CheckReport& trial) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode)) return "a file that is no socket is there";
  const auto address = machine::local_address(path);
  // The proxy itself removes the socket of a dead one.
  const bool is_taken = address && !trial.runs && machine::somebody_listens(*address);
  return is_taken ? "another proxy listens there; give this one another path, or \"none\"" : "";
}

// A proxy that becomes another user makes the folder and gives it away.
bool makes_folder(const config::Settings& settings) {
  const auto account =
      machine::account_of(settings.process.user.empty() ? "hearsay" : settings.process.user);
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

void try_own(const fs::path& path, const std::string& place, CheckReport& into) {
  const auto why = why_not(path);
  if (why.empty()) return;
  into.warnings.push_back(fmt::format("{}: {} cannot be written by a proxy that {}: {}", place,
                                      path.native(), machine::describe_user(), why));
}

}  // namespace

void try_limits(const config::Settings& settings, const std::optional<machine::MemoryLimit>& memory,
                const machine::DescriptorLimit& descriptors, CheckReport& into) {
  if (auto shortage = machine::memory_shortage(settings, memory)) {
    into.warnings.push_back(std::move(*shortage));
  }
  // The limit is not known.
  if (descriptors.most == 0) return;
  const auto& disk = settings.cache.disk;
  const auto files = disk ? cache::segments_of(disk->size.value) : 0;
  if (auto shortage = crowd::descriptor_shortage(settings.limits, descriptors.most, files)) {
    into.warnings.push_back("descriptors: " + *shortage);
  }
}

void try_as_starter(const config::Settings& settings, const machine::ServiceUnit* unit,
                    CheckReport& into) {
  // As root, which may bind low ports; what follows depends on the user.
  try_ports(settings, unit, into);
  if (unit && ::geteuid() == 0 && !unit->user.empty()) become_user_of(*unit, into);
  try_places(settings, unit, into);
  try_user(settings, into);
  try_control(settings, unit, into);
}

std::string summary(const config::Settings& settings) {
  std::string text = "listens on ";
  for (const auto& listen : settings.process.listen) {
    if (&listen != &settings.process.listen.front()) text += ", ";
    text += config::to_text(listen);
  }
  text += fmt::format("; {} MiB of memory, ", settings.cache.memory.value >> 20);
  const auto& disk = settings.cache.disk;
  text += disk ? fmt::format("{} MiB in {}", disk->size.value >> 20, disk->path) : "no disk";
  text += "; " + config::counted(settings.peers.size(), "neighbour");
  if (!settings.gateway.reverse.empty())
    text += ", " + config::counted(settings.gateway.reverse.size(), "site");
  if (!settings.rules.empty()) text += ", " + config::counted(settings.rules.size(), "rule");
  return text;
}

void try_control(const config::Settings& settings, const machine::ServiceUnit* unit,
                 CheckReport& into) {
  const auto path = config::control_path(settings);
  if (path.empty()) return;
  auto why = why_taken(path, into);
  if (why.empty() && unit && unit->makes(path)) return;
  if (why.empty()) why = why_no_folder(settings, fs::path(path).parent_path());
  if (why.empty()) return;
  // Without its own socket by default the proxy runs all the same.
  auto& where = settings.process.control ? into.errors : into.warnings;
  where.push_back(fmt::format("control: cannot listen at {}: {}", path, why));
}

void try_user(const config::Settings& settings, CheckReport& into) {
  if (is_missing(settings.process.user)) {
    into.errors.push_back(fmt::format("user: there is no user {}", settings.process.user));
  } else if (auto why = machine::why_root(settings.process.user); !why.empty()) {
    into.warnings.push_back("user: " + std::move(why));
  } else if (const auto account = machine::account_to_become(settings.process.user)) {
    auto tried = machine::tried_places(settings, *account);
    std::move(tried.forbidden.begin(), tried.forbidden.end(), std::back_inserter(into.errors));
    std::move(tried.refused.begin(), tried.refused.end(), std::back_inserter(into.warnings));
  }
}

void try_as_user(const config::Settings& settings, CheckReport& into) {
  // try_user() has said so.
  if (is_missing(settings.process.user)) return;
  const auto account = machine::account_to_become(settings.process.user);
  if (!account) return;
  machine::become(*account);
  if (settings.cache.disk) try_own(settings.cache.disk->path, "cache.disk.path", into);
  if (settings.log.access == config::LogTarget::file) {
    try_own(settings.log.path, "log.access", into);
  }
}

bool report(const CheckReport& trial, std::ostream& out, std::ostream& err) {
  for (const auto& note : trial.notes) out << note << '\n';
  for (const auto& error : trial.errors) err << "error: " << error << '\n';
  for (const auto& warning : trial.warnings) err << "warning: " << warning << '\n';
  const auto errors = config::counted(trial.errors.size(), "error");
  const auto warnings = config::counted(trial.warnings.size(), "warning");
  // Scripts read the exit code, people this line.
  const bool is_good = trial.errors.empty() && !(trial.is_strict && !trial.warnings.empty());
  out << (is_good ? "OK" : "not OK: ");
  if (!trial.errors.empty()) out << errors << (trial.warnings.empty() ? "" : ", ");
  if (!trial.warnings.empty()) out << (is_good ? ", but for " : "") << warnings;
  out << '\n';
  return is_good;
}

}  // namespace proxy::check
