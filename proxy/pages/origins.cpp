#include "proxy/pages/origins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "config/text.hpp"

namespace proxy::pages {
namespace {

using Time = std::chrono::steady_clock::time_point;
using upstream::OriginTraffic;
using Failing = upstream::OriginHealth::Failing;
using Silence = OriginTraffic::Silence;
using Json = nlohmann::ordered_json;
using std::chrono::seconds;

// Of fewer requests, those for one site that is down would be a fifth.
constexpr std::uint64_t kLeastRequests = 100;
constexpr std::uint64_t kFailedOf = 5;  // one of so many

std::string for_people(std::chrono::steady_clock::duration time) {
  return config::rough_text(std::max(seconds(1), std::chrono::floor<seconds>(time)));
}

// Those whose requests the settings send there are served by nothing else. Of what clients name, a
// few slow answers are common.
bool is_reason(const Silence& one, Time now) {
  const std::size_t most = one.mapped ? 3 : 10;
  const seconds longest = one.mapped ? seconds(3) : seconds(10);
  return one.requests >= most && now - one.silent >= longest;
}

std::string text_of(const Silence& one, Time now) {
  const auto longest = for_people(now - one.since);
  const auto waiting =
      one.requests == 1
          ? fmt::format("1 request has waited for it for {}", longest)
          : fmt::format("{} requests have waited for it for up to {}", one.requests, longest);
  return fmt::format(
      "{}, and it has answered nothing for {}: look whether it hangs, and at the way to it",
      waiting, for_people(now - one.silent));
}

bool names(const std::vector<Failing>& all, const std::string& origin) {
  return std::any_of(all.begin(), all.end(),
                     [&origin](const Failing& one) { return one.origin == origin; });
}

std::vector<Failing> of_settings(const std::vector<Failing>& all, bool mapped) {
  std::vector<Failing> some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some),
               [mapped](const Failing& one) { return one.mapped == mapped; });
  return some;
}

// The origin that has most of the failures, if one has, and without it few requests fail.
const Failing* main_cause(const OriginsSeen& seen) {
  const auto& failed = seen.failed_lately;
  const auto most = std::max_element(
      failed.begin(), failed.end(),
      [](const Failing& one, const Failing& other) { return one.failures < other.failures; });
  if (most == failed.end()) return nullptr;
  std::uint64_t rest = 0;
  for (const auto& one : failed) rest += one.failures;
  rest -= most->failures;
  const auto others = seen.requests - std::min(most->failures, seen.failed);
  return rest < most->failures && rest * kFailedOf <= others ? &*most : nullptr;
}

// The origins that have failed lately, be it once each, show what the failures are due to: one of
// them, or the way to them all.
void add_share(std::vector<Trouble>& all, const OriginsSeen& seen) {
  if (seen.requests < kLeastRequests || seen.failed * kFailedOf < seen.requests) return;
  // Origins of the settings have reasons of their own: see origin_reasons().
  const auto external = of_settings(seen.failed_lately, false).size();
  const auto* const one = main_cause(seen);
  // An origin of the settings has its own reason. Another one counts only if it is among those that
  // fail now. Failures of a single origin say nothing of the line.
  if (one ? one->mapped || !names(seen.failing, one->origin) : external < 2) return;
  const auto share =
      fmt::format("{} of {} requests failed in the last minute", seen.failed, seen.requests);
  if (one) {
    all.push_back({.what = "origin",
                   .which = one->origin,
                   .text = fmt::format("{}, and this origin fails: {}: {}", share,
                                       upstream::text(one->why), upstream::advice_on(one->why)),
                   .which_is_private = true});
    return;
  }
  all.push_back(
      {"line",
       {},
       fmt::format("{}, and {} origins fail: look at the line to the Internet", share, external)});
}

std::string_view word(OriginTraffic::Wait::Of whom) {
  using Of = OriginTraffic::Wait::Of;
  if (whom == Of::origin) return "origin";
  return whom == Of::parent ? "parent" : "neighbour";
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
          // Tenths: the page is read by people, who compare waits of seconds.
          {"seconds", std::round(10 * seconds_of(waited)) / 10},
          {"since", std::round(seconds_of(shown.time_since_epoch() - waited))},
          {"bytes", wait.bytes}};
}

Json failures_json(const upstream::OriginSums& sums) {
  auto causes = Json::object();
  for (std::size_t cause = 0; cause < upstream::kFailures; ++cause) {
    if (sums.failures[cause] == 0) continue;
    causes[std::string(upstream::word(static_cast<upstream::Failure::What>(cause)))] =
        sums.failures[cause];
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

OriginsSeen origins_seen(const PagesAccess& pages, Time now) {
  const auto minute = pages.observed.history.sum_of_last(std::chrono::minutes(1));
  return {pages.upstream.health.failing(now), pages.upstream.traffic.silences(now),
          minute[static_cast<std::size_t>(observe::Series::requests)],
          minute[static_cast<std::size_t>(observe::Series::failed_by_origins)],
          pages.upstream.health.failed_lately(now)};
}

std::vector<Trouble> origin_reasons(const OriginsSeen& seen, Time now) {
  auto all = origin_troubles(of_settings(seen.failing, true), now);
  add_share(all, seen);
  for (const auto& one : seen.silences) {
    // An origin that fails and is silent has one cause, and gets one reason.
    const bool is_said = std::any_of(all.begin(), all.end(), [&one](const Trouble& trouble) {
      return trouble.which == one.origin;
    });
    if (is_said || !is_reason(one, now)) continue;
    all.push_back({.what = "origin",
                   .which = one.origin,
                   .text = text_of(one, now),
                   .which_is_private = !one.mapped});
  }
  return all;
}

std::vector<OriginNote> origin_notes(const OriginsSeen& seen,
                                     const std::vector<upstream::OriginTraffic::Origin>& origins,
                                     Time now) {
  constexpr std::chrono::seconds kSlow{2};
  std::vector<OriginNote> all;
  for (auto& trouble : origin_troubles(of_settings(seen.failing, false), now)) {
    all.push_back({std::move(trouble.which), std::move(trouble.text)});
  }
  for (const auto& one : seen.silences) {
    if (names(seen.failing, one.origin) || is_reason(one, now)) continue;
    all.push_back({one.origin, text_of(one, now)});
  }
  for (const auto& one : origins) {
    const auto half = one.sums.first_bytes.quantile(0.5);
    const bool is_said = std::any_of(
        all.begin(), all.end(), [&one](const OriginNote& note) { return note.origin == one.name; });
    if (is_said || !half || *half < kSlow) continue;
    all.push_back({one.name, fmt::format("half of its answers take more than {:.1f} s to begin",
                                         std::chrono::duration<double>(*half).count())});
  }
  return all;
}

OriginsView origins_view(const PagesAccess& pages, Time now) {
  OriginsView view;
  view.origins = pages.upstream.traffic.origins(now);
  view.notes = origin_notes(origins_seen(pages, now), view.origins, now);
  // After the notes, which look at all of them.
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

}  // namespace proxy::pages
