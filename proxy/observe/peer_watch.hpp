// Which neighbours are down, and the log's lines about it.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "peers/directory.hpp"

namespace proxy {

// Why the neighbour is down; empty: it is not, as far as is known. Pure.
std::string why_down(const peers::PeerStatus& peer);

// Whether the neighbour is down for a fault that may be the name servers': its name is not
// resolved, and `names_fail` (NameHealth::fails_lately), or too few polls have failed to tell.
// Pure.
bool is_excused(const peers::PeerStatus& peer, bool names_fail);

// Says once when a neighbour goes down, and once when it is back. For one thread that calls look()
// regularly.
class PeerWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `peers`: all that are known at `now`. The watch forgets neighbours that are no longer known. A
  // neighbour that is_excused() counts as before. Returns whether a neighbour went down or is back.
  bool look(const std::vector<peers::PeerStatus>& peers, bool names_fail, Time now);

 private:
  struct Down {
    Time since;
    bool rests;  // when it was last seen down; else its polls fail
    bool said;   // that it is down; a lie is said where it is found
  };

  std::map<std::string, Down> down_;  // by name
};

}  // namespace proxy
