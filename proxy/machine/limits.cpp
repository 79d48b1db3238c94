#include "proxy/machine/limits.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <utility>

#include "config/text.hpp"

namespace proxy::machine {
namespace {

using config::take_until;

// Files of the kernel, but a container may mount something else in their place.
constexpr std::size_t kLongestFile = 64 * 1024;
constexpr std::size_t kDeepest = 64;

// The beginning of a file; empty if it cannot be read.
std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kLongestFile, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

std::optional<std::uint64_t> leading_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

// Appends the file `name` of each group on the way from `group` to the root. In a container the
// inner groups may be invisible: then only the root's file exists, which is the container's.
void append_upwards(std::vector<std::string>& files, const std::string& mount,
                    std::string_view group, const char* name) {
  for (std::size_t level = 0; level < kDeepest; ++level) {
    while (group.ends_with('/')) group.remove_suffix(1);
    files.push_back(mount + std::string(group) + '/' + name);
    if (group.empty()) return;
    group = group.substr(0, std::min(group.rfind('/'), group.size()));
  }
}

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

std::optional<std::uint64_t> parse_cgroup_limit(std::string_view text) {
  // Version 1 writes "no limit" as the largest multiple of the page's size below 2^63.
  constexpr std::uint64_t kNone = 1ULL << 60;
  const auto limit = leading_number(text);
  return limit && *limit < kNone ? limit : std::nullopt;
}

std::optional<std::uint64_t> parse_total_memory(std::string_view meminfo) {
  constexpr std::string_view kKey = "MemTotal:";
  while (!meminfo.empty()) {
    auto line = take_until(meminfo, '\n');
    if (!line.starts_with(kKey)) continue;
    line.remove_prefix(std::min(line.find_first_of("0123456789"), line.size()));
    const auto kibibytes = leading_number(line);
    if (!kibibytes || *kibibytes > (1ULL << 50)) return std::nullopt;
    return *kibibytes * 1024;
  }
  return std::nullopt;
}

std::vector<std::string> memory_limit_files(std::string_view proc_self_cgroup) {
  std::vector<std::string> files;
  std::array<bool, 2> seen{};  // one group of each version
  while (!proc_self_cgroup.empty()) {
    auto line = take_until(proc_self_cgroup, '\n');
    const auto hierarchy = take_until(line, ':');
    const auto controllers = ',' + std::string(take_until(line, ':')) + ',';
    const bool has_memory = controllers.find(",memory,") != controllers.npos;
    if (hierarchy == "0" && controllers == ",," && !std::exchange(seen[0], true)) {
      append_upwards(files, "/sys/fs/cgroup", line, "memory.max");
    } else if (has_memory && !std::exchange(seen[1], true)) {
      append_upwards(files, "/sys/fs/cgroup/memory", line, "memory.limit_in_bytes");
    }
  }
  return files;
}

std::optional<MemoryLimit> memory_limit(const std::string& root) {
  std::optional<MemoryLimit> least;
  if (const auto all = parse_total_memory(text_of(root + "/proc/meminfo"))) {
    least = MemoryLimit{*all, ""};
  }
  for (const std::string& file : memory_limit_files(text_of(root + "/proc/self/cgroup"))) {
    // A group inherits the limits of those around it, so the least of all applies.
    const auto limit = parse_cgroup_limit(text_of(root + file));
    if (limit && (!least || *limit < least->bytes)) least = MemoryLimit{*limit, file};
  }
  return least;
}

bool is_address_space_limited() {
  const auto limits = [](auto what) {
    rlimit limit{};
    return ::getrlimit(what, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  };
  return limits(RLIMIT_AS) || limits(RLIMIT_DATA);
}

DescriptorLimit descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {RLIM_INFINITY, RLIM_INFINITY};
  return {limit.rlim_cur, limit.rlim_max};
}

std::uint64_t raise_descriptor_limit(std::uint64_t wanted) {
  const rlim_t most = descriptor_limit().most;
  // Two calls, because a process without privileges gets nothing if it asks for too much.
  const rlimit unprivileged{most, most};
  ::setrlimit(RLIMIT_NOFILE, &unprivileged);
  const rlimit privileged{wanted, wanted};
  if (wanted > most) ::setrlimit(RLIMIT_NOFILE, &privileged);
  return descriptor_limit().now;
}

void fit_defaults(config::Settings& settings, const MemoryLimit& limit) {
  if (settings.limits.heads_by_default) lower(settings.limits.heads, limit.bytes / 16);
  if (settings.digest.peer_memory_by_default) lower(settings.digest.peer_memory, limit.bytes / 8);
  if (!settings.cache.memory_by_default) return;
  const auto others = std::min(limit.bytes, needed_beside_cache(settings));
  // Half at most: pages of the disk cache, and other programs, need the rest.
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
