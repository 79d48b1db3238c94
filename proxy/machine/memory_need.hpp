// Whether the memory that the settings promise is there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/settings.hpp"
#include "proxy/machine/limits.hpp"

namespace proxy::machine {

// The bytes that a proxy with these settings may take.
std::uint64_t memory_needed(const config::Settings& settings);

// What a person is told if that is more than the limit; nothing if it is not, or the limit is
// unknown.
std::optional<std::string> memory_shortage(const config::Settings& settings,
                                           const std::optional<MemoryLimit>& limit);

}  // namespace proxy::machine
