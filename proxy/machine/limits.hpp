// How much memory and how many descriptors this process may use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"

namespace proxy::machine {

struct MemoryLimit {
  std::uint64_t bytes = 0;
  // The file that limits a control group; empty: all memory of the machine.
  std::string cgroup_file;

  bool operator==(const MemoryLimit&) const = default;
};

// The least of the machine's memory and the limits of the control groups around this process, of
// version 1 and 2. Nothing if /proc is unreadable and no group is limited. Reads /proc and
// /sys/fs/cgroup below `root`, which tests replace. Call this before the sandbox. Blocks shortly.
std::optional<MemoryLimit> memory_limit(const std::string& root = "");

// Whether the address space or the data of this process is limited (ulimit -v, -d).
bool is_address_space_limited();

struct DescriptorLimit {
  std::uint64_t now = 0;   // RLIMIT_NOFILE
  std::uint64_t most = 0;  // the process may raise it so far without privileges
};
// Both are RLIM_INFINITY if the system does not tell.
DescriptorLimit descriptor_limit();

// Raises RLIMIT_NOFILE as far as it may be raised without privileges; with them, at least to
// `wanted`. Returns what it is then.
std::uint64_t raise_descriptor_limit(std::uint64_t wanted = 0);

// The pure parts.

// A limit as a control group's file states it, in bytes. Nothing for "max" (version 2), for a
// number that stands for none (version 1), and for any other text.
std::optional<std::uint64_t> parse_cgroup_limit(std::string_view text);

// Bytes of "MemTotal:" in the text of /proc/meminfo.
std::optional<std::uint64_t> parse_total_memory(std::string_view meminfo);

// The files that may limit the memory of a process whose /proc/self/cgroup has this text: those of
// its group and of each group around it, innermost first. At most 64 for each version.
std::vector<std::string> memory_limit_files(std::string_view proc_self_cgroup);

// Lowers what is not set among cache.memory, digest.peer_memory and limits.heads to shares of the
// limit. From 96 MiB on, memory_shortage() then finds none if all three are not set. Pure.
void fit_defaults(config::Settings& settings, const MemoryLimit& limit);

// The bytes that a proxy with these settings may take. digest.peer_memory counts if there are
// peers.
std::uint64_t memory_needed(const config::Settings& settings);

// Tells a person that the settings ask for more memory than the limit. Nothing: they do not, or the
// limit is unknown.
std::optional<std::string> memory_shortage(const config::Settings& settings,
                                           const std::optional<MemoryLimit>& limit);

}  // namespace proxy::machine
