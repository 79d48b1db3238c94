// Which origins make this proxy degraded, and which are only worth a note. Pure but for
// origins_seen().
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "proxy/pages/health.hpp"

namespace proxy {

struct OriginsSeen {
  std::vector<upstream::OriginHealth::Failing> failing{};
  std::vector<upstream::OriginTraffic::Silence> silences{};
  // Of clients, in the last minute.
  std::uint64_t requests = 0;
  std::uint64_t failed = 0;  // by origins, or by the way to them
  std::vector<upstream::OriginHealth::Failing> failed_lately{};
};
// What is known at `now`. Any thread.
OriginsSeen origins_seen(const PagesAccess& pages, std::chrono::steady_clock::time_point now);

// The reasons to be degraded: an origin that the settings name fails (origin_troubles); requests
// wait for an origin that answers nothing; or a fifth of the clients' requests fails, of at least a
// hundred in a minute, whichever origins they ask for. An origin that clients name and that fails
// alone is no reason.
std::vector<Trouble> origin_reasons(const OriginsSeen& seen,
                                    std::chrono::steady_clock::time_point now);

// What does not work so well at an origin, and is no reason to be degraded. At most one for each
// origin: it fails, requests wait for it, or it is slow.
struct OriginNote {
  std::string origin;
  std::string text;
};
std::vector<OriginNote> origin_notes(const OriginsSeen& seen,
                                     const std::vector<upstream::OriginTraffic::Origin>& origins,
                                     std::chrono::steady_clock::time_point now);

}  // namespace proxy
