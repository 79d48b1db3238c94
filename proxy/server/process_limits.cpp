#include "proxy/server/process_limits.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/machine/memory_need.hpp"

namespace proxy {
namespace {

std::size_t segments_of(const config::Settings& settings) {
  const auto& disk = settings.cache.disk;
  return disk ? cache::segments_of(disk->size.value) : 0;
}

}  // namespace

void raise_descriptor_limit(const config::Settings& settings) {
  constexpr std::size_t kBesidesSegments = 1024;
  const auto segments = segments_of(settings);
  const auto wanted = segments > 0 ? segments + kBesidesSegments : 0;
  const auto allowed = machine::raise_descriptor_limit(wanted);
  if (allowed >= wanted) return;
  spdlog::warn(
      "cache.disk.size {} GiB takes {} open files, but no more than {} are allowed here: allow "
      "more (ulimit -n, or LimitNOFILE of the service), or make the cache smaller",
      settings.cache.disk->size.value >> 30, wanted, allowed);
}

DescriptorLimits descriptor_limits_of(const config::Settings& settings) {
  const auto allowed = machine::descriptor_limit().now;
  const auto limits = descriptor_limits(allowed, segments_of(settings));
  if (limits.connections < settings.limits.connections) {
    spdlog::warn(
        "{} file descriptors are allowed here, which is enough for {} client connections; "
        "limits.connections is {} (ulimit -n, or LimitNOFILE of the service, allows more)",
        allowed, limits.connections, settings.limits.connections);
  }
  return limits;
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

}  // namespace proxy
