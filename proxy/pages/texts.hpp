// The texts of the pages that monitors and the dashboard read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proxy/pages/own_pages.hpp"

namespace proxy::pages {

// The page /metrics: the counters, the gauges, and the metrics of the disk and of the neighbours,
// in Prometheus' text format 0.0.4.
std::string metrics_text(const PagesAccess& pages, const policy::Policy& policy);

// The page /digest: our digest, the neighbours' claims, and how accurate the claims were. /metrics
// has the same numbers.
enum class JsonLayout : std::uint8_t { indented, one_line };
std::string digest_json(const PagesAccess& pages, const policy::Policy& policy,
                        JsonLayout layout = JsonLayout::indented);

// {"step_seconds", "end": seconds since 1970, and for each Series its numbers, the oldest first}.
std::string history_json(const observe::History::Span& span);

// A list, the newest last: {"id", "kind", "time": seconds, "took_ms", "client", "neighbour",
// "method", "url", "status", "bytes", "result": the tag of the access log, "verdict": a sentence}.
// `neighbour`: the name of the neighbour that asked, or its address if there is no name for it;
// null: another client.
std::string requests_json(const std::vector<observe::RecentRequests::Found>& requests);

// {"hosts", "urls", "clients"}, each a list of {"name", "requests", "hits", "bytes"} of the last
// hour, the busiest first. A client has its "connections" now, and its name if it is a "neighbour".
std::string busiest_json(const PagesAccess& pages, const policy::Policy& policy);

// The newest `most` requests of each kind, in their order.
std::vector<observe::RecentRequests::Found> newest_of_each_kind(
    const std::vector<observe::RecentRequests::Found>& requests, std::size_t most);

// The news of one second, in one line: {"end", "sample", "now", "health", "digest"}. `sample`: the
// last second of the history, which ends at `end`; `now`: what is open and stored; `health` and
// `digest`: as the pages of these names. `readers`: of health_json().
std::string news_json(const PagesAccess& pages, const policy::Policy& policy, Audience readers);

// The news for admins: with "requests", of each kind the newest kMostNews.
inline constexpr std::size_t kMostNews = 25;
std::string with_requests(std::string news,
                          const std::vector<observe::RecentRequests::Found>& requests);

}  // namespace proxy::pages
