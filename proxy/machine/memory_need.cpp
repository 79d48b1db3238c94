#include "proxy/machine/memory_need.hpp"

#include <fmt/format.h>

namespace proxy::machine {
namespace {

constexpr std::uint64_t kProgram = 64 << 20;  // code, stacks and what no setting bounds

}  // namespace

std::uint64_t memory_needed(const config::Settings& settings) {
  return settings.cache.memory.value + settings.digest.peer_memory.value +
         settings.limits.heads.value + kProgram;
}

std::optional<std::string> memory_shortage(const config::Settings& settings,
                                           const std::optional<MemoryLimit>& limit) {
  const auto needed = memory_needed(settings);
  if (!limit || needed <= limit->bytes) return std::nullopt;
  return fmt::format(
      "memory: cache.memory ({} MiB), digest.peer_memory ({} MiB), limits.heads ({} MiB) and the "
      "program may take {} MiB, and there are {} MiB ({}); set cache.memory to less",
      settings.cache.memory.value >> 20, settings.digest.peer_memory.value >> 20,
      settings.limits.heads.value >> 20, needed >> 20, limit->bytes >> 20,
      limit->cgroup_file.empty() ? "this machine" : limit->cgroup_file);
}

}  // namespace proxy::machine
