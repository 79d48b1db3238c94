#include "proxy/server/start_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <sstream>

#include "config/counted.hpp"
#include "config/text.hpp"
#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/machine/limits.hpp"
#include "proxy/version.hpp"

namespace proxy::server {
namespace {

using config::short_size;

std::size_t segments_of(const config::Settings& settings) {
  const auto& disk = settings.cache.disk;
  return disk ? cache::segments_of(disk->size.value) : 0;
}

std::string who(const Shared& shared, const policy::Policy& policy, const std::string& settings) {
  return fmt::format("{} named {}, process {}, {}, settings of {}", kProduct, shared.instance.name,
                     ::getpid(), config::counted(thread_count(policy.settings), "thread"),
                     settings);
}

std::string where(const Shared& shared, const std::string& control_socket) {
  std::ostringstream all;
  for (const auto& address : shared.instance.listening) {
    all << (&address == shared.instance.listening.data() ? "" : ", ") << address;
  }
  if (!control_socket.empty()) all << "; control socket " << control_socket;
  return "listens on " + all.str();
}

std::string what(const Shared& shared, const policy::Policy& policy) {
  auto text = fmt::format("holds {} in memory, {} of {}",
                          config::counted(shared.tiers.store.responses(), "response"),
                          short_size(shared.tiers.store.totals().bytes),
                          short_size(policy.settings.cache.memory.value));
  const auto& disk = policy.settings.cache.disk;
  const auto* const tier = shared.tiers.disk;
  if (!tier || !disk) return text + "; no disk";
  const auto& catalog = tier->disk().catalog();
  return text + fmt::format("; {} on disk, {} of {} at {}{}", catalog.index.entries(),
                            short_size(catalog.used_bytes), short_size(disk->size.value),
                            disk->path, tier->state().working ? "" : ", which rests");
}

std::string whom(const policy::Policy& policy) {
  std::vector<std::string> siblings;
  std::vector<std::string> parents;
  for (const auto& peer : policy.directory->peers()) {
    if (peer->is_ourselves()) continue;  // one list of neighbours may serve a whole site
    (peer->role == config::Role::parent ? parents : siblings).push_back(peer->name);
  }
  if (siblings.empty() && parents.empty()) return "knows no neighbours (setting peers)";
  std::vector<std::string> parts;
  const auto add = [&parts](std::string_view role, const std::vector<std::string>& names) {
    if (names.empty()) return;
    parts.push_back(
        fmt::format("{}: {}", config::counted(names.size(), role), fmt::join(names, ", ")));
  };
  add("sibling", siblings);
  add("parent", parents);
  return fmt::format("knows {}", fmt::join(parts, "; "));
}

std::string limits(const Shared& shared, const policy::Policy& policy, const std::string& others) {
  // What holds, not what was asked for.
  const auto connections = std::min<std::size_t>(policy.settings.limits.connections,
                                                 shared.crowd.descriptors.connections);
  return fmt::format("limits: {}; {}", config::counted(connections, "connection"), others);
}

}  // namespace

std::vector<std::string> start_report(const Shared& shared, const policy::Policy& policy,
                                      const StartFacts& facts) {
  return {who(shared, policy, facts.settings_file), where(shared, facts.control_socket),
          what(shared, policy), whom(policy), limits(shared, policy, facts.limits)};
}

void raise_descriptor_limit(const config::Settings& settings) {
  const auto segments = segments_of(settings);
  machine::raise_descriptor_limit(segments > 0 ? crowd::descriptors_for(segments) : 0);
}

crowd::DescriptorLimits descriptor_limits_of(const config::Settings& settings) {
  // What is allowed now: raise_descriptor_limit() may have got less than it asked for.
  const auto allowed = machine::descriptor_limit().now;
  const auto files = segments_of(settings);
  if (const auto shortage = crowd::descriptor_shortage(settings.limits, allowed, files)) {
    spdlog::warn("{}", *shortage);
  }
  return crowd::descriptor_limits(allowed, files);
}

std::string describe_limits(const config::Settings& settings,
                            const std::optional<machine::MemoryLimit>& memory) {
  const auto descriptors = machine::descriptor_limit().now;
  if (!memory) return fmt::format("{} descriptors", descriptors);
  if (const auto shortage = machine::memory_shortage(settings, memory)) {
    spdlog::warn("{}, or the system may end the proxy", *shortage);
  }
  const auto& group = memory->cgroup_file;
  return fmt::format("cache.memory is {} MiB of {} MiB ({}), {} descriptors",
                     settings.cache.memory.value >> 20, memory->bytes >> 20,
                     group.empty() ? "this machine" : group, descriptors);
}

}  // namespace proxy::server
