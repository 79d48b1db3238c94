// What the program says of itself when it starts.
#pragma once

#include <string>
#include <vector>

#include "proxy/server/worker.hpp"

namespace proxy {

// What neither the process nor the policy knows.
struct StartFacts {
  std::string settings_file;
  std::string control_socket;  // its path; empty: none
  std::string limits;          // memory, descriptors, user, sandbox: a text for a person
};

// Five lines for a person: who we are, where we listen, what we hold, whom we know, what limits us.
std::vector<std::string> start_report(const Shared& shared, const Policy& policy,
                                      const StartFacts& facts);

}  // namespace proxy
