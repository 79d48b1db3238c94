#include "proxy/server/process_limits.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/machine/limits.hpp"

namespace proxy {
namespace {

std::size_t segments_of(const config::Settings& settings) {
  const auto& disk = settings.cache.disk;
  return disk ? cache::segments_of(disk->size.value) : 0;
}

}  // namespace

void raise_descriptor_limit(const config::Settings& settings) {
  const auto segments = segments_of(settings);
  machine::raise_descriptor_limit(segments > 0 ? descriptors_for(segments) : 0);
}

DescriptorLimits descriptor_limits_of(const config::Settings& settings) {
  const auto allowed = machine::descriptor_limit().now;
  const auto files = segments_of(settings);
  if (const auto shortage = descriptor_shortage(settings.limits, allowed, files)) {
    spdlog::warn("{}", *shortage);
  }
  return descriptor_limits(allowed, files);
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
