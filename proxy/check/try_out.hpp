// Tries on this machine what settings ask for, without starting a proxy or disturbing one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/machine/limits.hpp"

namespace proxy {

// What was found, each in one line for a person.
struct Trial {
  std::vector<std::string> warnings;  // what would fail, or fall short, and what to do
  std::vector<std::string> notes;     // what is worth to know

  bool operator==(const Trial&) const = default;
};

// Each appends to `into`. All may block; the time is bounded by seconds. They create nothing and
// leave no trace.

// Whether the folder of the cache, and the log, exist or can be made, and can be written by this
// user, and whether the disk has room.
void try_places(const config::Settings& settings, Trial& into);

// Whether each address of `listen` can be bound. A port that a running Hearsay has is only a note.
void try_ports(const config::Settings& settings, Trial& into);

// Whether the names of neighbours and of the origins of `reverse` resolve. Asks for 64 of them at
// most, all at once, for 5 s at most.
void try_names(const config::Settings& settings, Trial& into);

// Whether the memory and the descriptors suffice. Pure.
void try_limits(const config::Settings& settings, const std::optional<machine::MemoryLimit>& memory,
                const machine::DescriptorLimit& descriptors, Trial& into);

// All of them.
Trial try_out(const config::Settings& settings, const std::optional<machine::MemoryLimit>& memory);

// The settings in a few words: where it listens, for whom, with which cache and neighbours. Pure.
std::string summary(const config::Settings& settings);

}  // namespace proxy
