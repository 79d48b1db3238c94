// What memory and descriptors this process has for its settings.
#pragma once

#include <optional>
#include <string>

#include "config/settings.hpp"
#include "proxy/crowd/descriptors.hpp"
#include "proxy/machine/limits.hpp"

namespace proxy {

// Raises the limit of open files as far as it may be raised; with root's rights, so far that the
// cache on disk can open each segment. Call this before they are given up.
void raise_descriptor_limit(const config::Settings& settings);

// How many descriptors clients may take. Warns of a descriptor_shortage().
DescriptorLimits descriptor_limits_of(const config::Settings& settings);

// What limits the process, in one line for a person. Warns if the settings ask for more memory than
// there is.
std::string describe_limits(const config::Settings& settings,
                            const std::optional<machine::MemoryLimit>& memory);

}  // namespace proxy
