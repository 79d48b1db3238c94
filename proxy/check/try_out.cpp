#include "proxy/check/try_out.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "config/counted.hpp"
#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/crowd/descriptors.hpp"
#include "proxy/machine/limits.hpp"
#include "proxy/machine/privileges.hpp"

namespace proxy {
namespace {

void become_user_of(const machine::ServiceUnit& unit, Trial& into) {
  const auto account = machine::account_of(unit.user);
  if (!account) {
    into.errors.push_back(fmt::format("{}: there is no user {}", unit.name, unit.user));
  } else if (account->user != 0) {
    machine::become(*account);
  }
}

}  // namespace

void try_limits(const config::Settings& settings, const std::optional<machine::MemoryLimit>& memory,
                const machine::DescriptorLimit& descriptors, Trial& into) {
  if (auto shortage = machine::memory_shortage(settings, memory)) {
    into.warnings.push_back(std::move(*shortage));
  }
  if (descriptors.most == 0) return;
  const auto& disk = settings.cache.disk;
  const auto files = disk ? cache::segments_of(disk->size.value) : 0;
  if (auto shortage = descriptor_shortage(settings.limits, descriptors.most, files)) {
    into.warnings.push_back("descriptors: " + *shortage);
  }
}

void try_as_starter(const config::Settings& settings, const machine::ServiceUnit* unit,
                    Trial& into) {
  const bool runs = try_ports(settings, unit, into);
  if (unit && ::geteuid() == 0 && !unit->user.empty()) become_user_of(*unit, into);
  try_places(settings, unit, into);
  try_user(settings, into);
  try_control(settings, unit, runs, into);
}

std::string summary(const config::Settings& settings) {
  std::string text = "listens on ";
  for (const auto& listen : settings.listen) {
    if (&listen != &settings.listen.front()) text += ", ";
    text += config::to_text(listen);
  }
  text += fmt::format("; {} MiB of memory, ", settings.cache.memory.value >> 20);
  const auto& disk = settings.cache.disk;
  text += disk ? fmt::format("{} MiB in {}", disk->size.value >> 20, disk->path) : "no disk";
  text += "; " + config::counted(settings.peers.size(), "neighbour");
  if (!settings.reverse.empty()) text += ", " + config::counted(settings.reverse.size(), "site");
  if (!settings.rules.empty()) text += ", " + config::counted(settings.rules.size(), "rule");
  return text;
}

}  // namespace proxy
