// What is known of origins: which make this proxy degraded, which are only worth a note, and the
// page /hearsay/origins. Pure but for origins_seen() and origins_view().
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "proxy/pages/health.hpp"

namespace proxy::pages {

struct OriginsSeen {
  std::vector<upstream::OriginHealth::Failing> failing{};
  std::vector<upstream::OriginTraffic::Silence> silences{};
  // The number of requests of clients in the last minute.
  std::uint64_t requests = 0;
  std::uint64_t failed = 0;  // by origins, or by the way to them
  std::vector<upstream::OriginHealth::Failing> failed_lately{};
};
// Returns what is known of the origins at `now`. Any thread may call this.
OriginsSeen origins_seen(const PagesAccess& pages, std::chrono::steady_clock::time_point now);

// The reasons to be degraded. There are three: an origin that the settings name fails
// (origin_troubles); requests wait for an origin that answers nothing; a fifth of the clients'
// requests in a minute fails, of at least a hundred. One failing origin that only clients name is
// none of the first kind.
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

struct OriginsView {
  std::vector<upstream::OriginTraffic::Origin> origins{};
  upstream::OriginTraffic::Waits waits{};
  std::vector<OriginNote> notes{};
};

// The page at `now`: at most kMostShown origins, and as many waiting requests. Any thread.
inline constexpr std::size_t kMostShown = 200;
OriginsView origins_view(const PagesAccess& pages, std::chrono::steady_clock::time_point now);

// {"notes": [{"origin", "text"}], "waiting": the number of requests that wait, "under_way": the
// longest of them [{"method", "url", "waits_for": "name", "connection", "first-byte" or "body",
// "of": "origin", "parent" or "neighbour", "server", "seconds", "since": seconds since 1970,
// "bytes"}], "origins": [{"origin", "requests", "failed", "failures": by cause, without those that
// are 0, "first_byte_p50_ms", "first_byte_p99_ms", "bytes", "waiting"}]}. `shown`: the wall time at
// `now`.
std::string origins_json(const OriginsView& view, std::chrono::steady_clock::time_point now,
                         std::chrono::system_clock::time_point shown);

}  // namespace proxy::pages
