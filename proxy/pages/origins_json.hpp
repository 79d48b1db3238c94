// The page /hearsay/origins as JSON.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "proxy/machine/clock.hpp"
#include "proxy/pages/origin_reasons.hpp"

namespace proxy {

struct OriginsView {
  std::vector<upstream::OriginTraffic::Origin> origins{};
  upstream::OriginTraffic::Waits waits{};
  std::vector<OriginNote> notes{};
};

// What is known at `now`: of at most kMostShown origins, and of as many waiting requests. Any
// thread.
inline constexpr std::size_t kMostShown = 200;
OriginsView origins_view(const PagesAccess& pages, std::chrono::steady_clock::time_point now);

// {"notes": [{"origin", "text"}], "waiting": the number of requests that wait, "under_way": the
// longest of them [{"method", "url", "waits_for": "name", "connection", "first-byte" or "body",
// "of": "origin", "parent" or "neighbour", "server", "seconds", "since": seconds since 1970,
// "bytes"}], "origins": [{"origin", "requests", "failed", "failures": by cause, without those that
// are 0, "first_byte_p50_ms", "first_byte_p99_ms", "bytes", "waiting"}]}. `shown`: the wall time at
// `now`. Pure.
std::string origins_json(const OriginsView& view, std::chrono::steady_clock::time_point now,
                         std::chrono::system_clock::time_point shown);

}  // namespace proxy
