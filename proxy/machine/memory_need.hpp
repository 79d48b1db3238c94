// Whether the memory that the settings promise is there, and defaults for which it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/settings.hpp"
#include "proxy/machine/limits.hpp"

namespace proxy::machine {

// Lowers what is not set among cache.memory, digest.peer_memory and limits.heads to shares of the
// limit. From 96 MiB on, memory_shortage() then finds none if all three are not set. Pure.
void fit_defaults(config::Settings& settings, const MemoryLimit& limit);

// The bytes that a proxy with these settings may take. digest.peer_memory counts if there are
// peers.
std::uint64_t memory_needed(const config::Settings& settings);

// What a person is told if that is more than the limit; nothing if it is not, or the limit is
// unknown.
std::optional<std::string> memory_shortage(const config::Settings& settings,
                                           const std::optional<MemoryLimit>& limit);

}  // namespace proxy::machine
