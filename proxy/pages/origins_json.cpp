#include "proxy/pages/origins_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace proxy {
namespace {

using Json = nlohmann::ordered_json;
using Time = std::chrono::steady_clock::time_point;
using upstream::OriginTraffic;

std::string_view word(OriginTraffic::Wait::Of whom) {
  switch (whom) {
    case OriginTraffic::Wait::Of::origin:
      return "origin";
    case OriginTraffic::Wait::Of::parent:
      return "parent";
    case OriginTraffic::Wait::Of::neighbour:
      return "neighbour";
  }
  return "";
}

double seconds_of(auto time) {
  return std::chrono::duration<double>(time).count();
}

Json wait_json(const OriginTraffic::Wait& wait, Time now,
               std::chrono::system_clock::time_point shown) {
  const auto waited = std::max(now - wait.since, Time::duration::zero());
  return {{"method", wait.method},
          {"url", wait.url},
          {"waits_for", upstream::word(wait.what)},
          {"of", word(wait.of)},
          {"server", wait.server},
          {"seconds", std::round(10 * seconds_of(waited)) / 10},
          {"since", std::round(seconds_of(shown.time_since_epoch() - waited))},
          {"bytes", wait.bytes}};
}

Json failures_json(const upstream::OriginSums& sums) {
  auto causes = Json::object();
  for (std::size_t cause = 0; cause < kFailures; ++cause) {
    if (sums.failures[cause] == 0) continue;
    causes[std::string(word(static_cast<Failure::What>(cause)))] = sums.failures[cause];
  }
  if (sums.errors > 0) causes["5xx"] = sums.errors;
  return causes;
}

Json origin_json(const OriginTraffic::Origin& origin) {
  const auto& sums = origin.sums;
  const auto milliseconds = [&sums](double share) {
    const auto time = sums.first_bytes.quantile(share);
    return time ? Json(std::round(10'000 * seconds_of(*time)) / 10) : Json(nullptr);
  };
  return {{"origin", origin.name},
          {"requests", sums.requests},
          {"failed", sums.failed()},
          {"failures", failures_json(sums)},
          {"first_byte_p50_ms", milliseconds(0.5)},
          {"first_byte_p99_ms", milliseconds(0.99)},
          {"bytes", sums.bytes},
          {"waiting", origin.waiting}};
}

}  // namespace

OriginsView origins_view(const PagesAccess& pages, Time now) {
  OriginsView view;
  view.origins = pages.upstream.traffic.origins(now);
  view.notes = origin_notes(origins_seen(pages, now), view.origins, now);
  view.origins.resize(std::min(view.origins.size(), kMostShown));
  view.waits = pages.upstream.traffic.waits(kMostShown);
  return view;
}

std::string origins_json(const OriginsView& view, Time now,
                         std::chrono::system_clock::time_point shown) {
  auto page = Json::object();
  page["notes"] = Json::array();
  for (const auto& note : view.notes) {
    Json one{{"text", note.text}};
    if (!note.origin.empty()) one["origin"] = note.origin;
    page["notes"].push_back(std::move(one));
  }
  page["waiting"] = view.waits.number;
  page["under_way"] = Json::array();
  for (const auto& wait : view.waits.longest) {
    page["under_way"].push_back(wait_json(wait, now, shown));
  }
  page["origins"] = Json::array();
  for (const auto& origin : view.origins) page["origins"].push_back(origin_json(origin));
  return page.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace proxy
