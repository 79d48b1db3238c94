// What the program says of itself when it starts, and what limits it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proxy/server/worker.hpp"

namespace proxy::server {

// Facts that neither the process nor the policy knows.
struct StartFacts {
  std::string settings_file;
  std::string control_socket;  // its path; empty: none
  std::string limits;          // memory, descriptors, user, sandbox: a text for a person
};

// Five lines for a person: who we are, where we listen, what we hold, whom we know, what limits us.
std::vector<std::string> start_report(const Shared& shared, const policy::Policy& policy,
                                      const StartFacts& facts);

// Raises the limit of open files as far as it may be raised; with root's rights, so far that the
// cache on disk can open each segment. Call this before they are given up.
void raise_descriptor_limit(const config::Settings& settings);

// How many descriptors clients may take. Warns of a descriptor_shortage().
crowd::DescriptorLimits descriptor_limits_of(const config::Settings& settings);

// Says in one line for a person what limits the process. Warns if the settings ask for more memory
// than there is.
std::string describe_limits(const config::Settings& settings,
                            const std::optional<machine::MemoryLimit>& memory);

}  // namespace proxy::server
