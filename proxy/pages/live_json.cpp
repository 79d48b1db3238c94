#include "proxy/pages/texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "proxy/observe/verdict.hpp"
#include "proxy/pages/health.hpp"

namespace proxy {
namespace {

using Json = nlohmann::ordered_json;

std::string one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::int64_t seconds_of(std::chrono::sys_seconds time) {
  return time.time_since_epoch().count();
}

std::string_view word(RecentKind kind) {
  constexpr std::string_view kWords[kRecentKinds] = {"hit", "forwarded", "failed"};
  return kWords[static_cast<std::size_t>(kind)];
}

Json neighbour_json(const RecentRequest& request, const Policy& policy) {
  if (!request.record.by_proxy) return nullptr;
  const auto address = config::parse_address(request.client);
  if (!address || !policy.is_neighbour(*address)) return nullptr;
  const auto peer = policy.directory->at(*address);
  return peer ? peer->name : request.client;
}

Json request_json(const RecentRequests::Found& found, const Policy& policy) {
  const auto& request = *found.request;
  const auto& record = request.record;
  const std::chrono::duration<double> ended = request.ended.time_since_epoch();
  return {{"id", fmt::format("{}-{}", found.thread, request.number)},
          {"kind", word(kind_of(record))},
          {"time", ended.count()},
          {"took_ms", request.took.count()},
          {"client", request.client},
          {"neighbour", neighbour_json(request, policy)},
          {"method", request.method},
          {"url", request.url},
          {"status", record.status},
          {"bytes", record.bytes},
          {"result", squid_tag(record.tag)},
          {"verdict", verdict_of(record)}};
}

std::uint64_t whole(double number) {
  return static_cast<std::uint64_t>(std::llround(number));
}

Json rows_json(std::vector<Busiest::Row> rows) {
  std::sort(rows.begin(), rows.end(), [](const auto& one, const auto& other) {
    return std::tie(other.requests, other.bytes, one.name) <
           std::tie(one.requests, one.bytes, other.name);
  });
  auto all = Json::array();
  for (const auto& row : rows) {
    all.push_back({{"name", row.name},
                   {"requests", whole(row.requests)},
                   {"hits", whole(row.hits)},
                   {"bytes", whole(row.bytes)}});
  }
  return all;
}

Json now_json(const PagesAccess& pages, const Policy& policy) {
  Json now{{"connections", pages.crowd.clients.connections()},
           {"watchers", pages.visitors.watchers.count()},
           {"memory_entries", pages.cache.store.responses()},
           {"memory_bytes", pages.cache.budget.used() + pages.transit.used()},
           {"memory_limit", pages.cache.budget.limit() + pages.transit.limit()}};
  const auto& disk = policy.settings.cache.disk;
  if (pages.cache.disk && disk) {
    const auto& catalog = pages.cache.disk->disk().catalog();
    now["disk_records"] = catalog.index.entries();
    now["disk_bytes"] = catalog.used_bytes.load();
    now["disk_limit"] = disk->size.value;
  }
  return now;
}

}  // namespace

std::string history_json(const History::Span& span) {
  auto text =
      fmt::format(R"({{"step_seconds":{},"end":{})", span.step.count(), seconds_of(span.end));
  std::vector<std::uint64_t> numbers(span.samples.size());
  for (std::size_t series = 0; series < kSeries; ++series) {
    std::transform(span.samples.begin(), span.samples.end(), numbers.begin(),
                   [series](const Sample& sample) { return sample[series]; });
    fmt::format_to(std::back_inserter(text), R"(,"{}":[{}])", name_of(static_cast<Series>(series)),
                   fmt::join(numbers, ","));
  }
  return text + "}\n";
}

std::string requests_json(const std::vector<RecentRequests::Found>& requests,
                          const Policy& policy) {
  auto all = Json::array();
  for (const auto& found : requests) all.push_back(request_json(found, policy));
  return one_line(all);
}

std::string busiest_json(const PagesAccess& pages, const Policy& policy) {
  auto told = pages.observed.busiest.tell();
  auto clients = rows_json(std::move(told.clients));
  for (auto& client : clients) {
    const auto address = config::parse_address(client["name"].get<std::string>());
    if (!address) continue;
    client["connections"] = pages.crowd.clients.connections_of(*address);
    const auto peer = policy.directory->at(*address);
    if (peer) client["neighbour"] = peer->name;
  }
  return one_line({{"hosts", rows_json(std::move(told.hosts))},
                   {"urls", rows_json(std::move(told.urls))},
                   {"clients", std::move(clients)}});
}

// Of each kind, since a few failures among thousands of hits are what somebody looks for.
std::vector<RecentRequests::Found> newest_of_each_kind(
    const std::vector<RecentRequests::Found>& requests, std::size_t most) {
  std::array<std::size_t, kRecentKinds> taken{};
  std::vector<RecentRequests::Found> newest;
  for (auto it = requests.rbegin(); it != requests.rend(); ++it) {
    auto& of_kind = taken[static_cast<std::size_t>(kind_of(it->request->record))];
    if (of_kind++ < most) newest.push_back(*it);
  }
  std::reverse(newest.begin(), newest.end());
  return newest;
}

std::string news_json(const PagesAccess& pages, const Policy& policy, Audience readers) {
  const auto latest = pages.observed.history.latest();
  Json sample;
  for (std::size_t series = 0; series < kSeries; ++series) {
    sample[name_of(static_cast<Series>(series))] = latest.sample[series];
  }
  const auto troubles = troubles_of(pages, policy, pages.clock().steady());
  const auto without_end = [](std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    return text;
  };
  return fmt::format(R"({{"end":{},"sample":{},"now":{},"health":{},"digest":{}}})",
                     seconds_of(machine::whole_seconds(pages.clock().shown(latest.end))),
                     one_line(sample), one_line(now_json(pages, policy)),
                     without_end(health_json(pages, troubles, readers)),
                     without_end(digest_json(pages, policy, Layout::one_line)));
}

// The news are text already, made once for all watchers, so the member is added without a parser.
std::string with_requests(std::string news, const std::vector<RecentRequests::Found>& requests,
                          const Policy& policy) {
  news.back() = ',';
  return news + R"("requests":)" + requests_json(newest_of_each_kind(requests, kMostNews), policy) +
         '}';
}

}  // namespace proxy
