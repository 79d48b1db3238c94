#include "proxy/machine/memory_need.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace proxy::machine {
namespace {

constexpr std::uint64_t kProgram = 64 << 20;  // code, stacks and what no setting bounds
constexpr std::uint64_t kLeastCache = 8 << 20;

void lower(config::ByteSize& size, std::uint64_t most) {
  size.value = std::min(size.value, most);
}

std::uint64_t needed_beside_cache(const config::Settings& settings) {
  const auto for_peers = settings.peers.empty() ? 0 : settings.digest.peer_memory.value;
  return for_peers + settings.limits.heads.value + kProgram;
}

}  // namespace

void fit_defaults(config::Settings& settings, const MemoryLimit& limit) {
  if (settings.limits.heads_by_default) lower(settings.limits.heads, limit.bytes / 16);
  if (settings.digest.peer_memory_by_default) lower(settings.digest.peer_memory, limit.bytes / 8);
  if (!settings.cache.memory_by_default) return;
  const auto others = std::min(limit.bytes, needed_beside_cache(settings));
  const auto left = std::min(limit.bytes / 2, limit.bytes - others);
  lower(settings.cache.memory, std::max(left, kLeastCache));
}

std::uint64_t memory_needed(const config::Settings& settings) {
  return settings.cache.memory.value + needed_beside_cache(settings);
}

std::optional<std::string> memory_shortage(const config::Settings& settings,
                                           const std::optional<MemoryLimit>& limit) {
  const auto needed = memory_needed(settings);
  if (!limit || needed <= limit->bytes) return std::nullopt;
  const auto for_peers =
      settings.peers.empty()
          ? ""
          : fmt::format("digest.peer_memory ({} MiB), ", settings.digest.peer_memory.value >> 20);
  return fmt::format(
      "memory: cache.memory ({} MiB), {}limits.heads ({} MiB) and the program may take {} MiB, and "
      "there are {} MiB ({}); set cache.memory to less",
      settings.cache.memory.value >> 20, for_peers, settings.limits.heads.value >> 20, needed >> 20,
      limit->bytes >> 20, limit->cgroup_file.empty() ? "this machine" : limit->cgroup_file);
}

}  // namespace proxy::machine
