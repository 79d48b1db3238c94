#include "proxy/observe/recent_requests.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace proxy::observe {

namespace {

constexpr std::size_t kLongestText = 1024;

std::string shortened(std::string_view text) {
  return std::string(text.substr(0, kLongestText));
}

// Built anew, since a copy would keep the memory of the key.
http::CacheStatus shortened(const http::CacheStatus& told) {
  return {.hit = told.hit,
          .fwd = told.fwd,
          .fwd_status = told.fwd_status,
          .ttl = told.ttl,
          .stored = told.stored,
          .collapsed = told.collapsed,
          .key = {},
          .detail = shortened(told.detail)};
}

// What is not copied could be long, or belongs to a policy that a reload ends.
RequestRecord shortened(const RequestRecord& record) {
  RequestRecord kept;
  static_cast<RequestFigures&>(kept) = record;
  kept.rule = kept.recipe = kept.denied_by = {};
  kept.upstream_host = shortened(record.upstream_host);
  kept.neighbour = shortened(record.neighbour);
  kept.told = shortened(record.told);
  return kept;
}

using Row = Busiest::Row;

std::vector<Row> busiest_of(std::vector<Row> rows, std::size_t most) {
  if (rows.size() <= most) return rows;
  std::unordered_map<std::string, Row> chosen;
  // A name may be first by requests and by bytes. Each is wanted once.
  for (const auto count : {&Row::requests, &Row::bytes}) {
    const auto end = rows.begin() + static_cast<std::ptrdiff_t>(most);
    std::partial_sort(rows.begin(), end, rows.end(), [count](const Row& one, const Row& other) {
      return one.*count > other.*count;
    });
    for (auto row = rows.begin(); row != end; ++row) chosen.emplace(row->name, *row);
  }
  rows.clear();
  for (auto& [name, row] : chosen) rows.push_back(std::move(row));
  return rows;
}

template <class Sums>
std::vector<Row> rows_of(const Sums& sums) {
  std::vector<Row> rows;
  rows.reserve(sums.size());
  for (const auto& [name, row] : sums) rows.push_back(row);
  return rows;
}

template <class Sums>
void forget_rare(Sums& sums) {
  auto kept = busiest_of(rows_of(sums), Busiest::kKept);
  sums.clear();
  for (auto& row : kept) {
    auto name = row.name;
    sums.emplace(std::move(name), std::move(row));
  }
}

template <class Sums>
void add(Sums& sums, std::string_view name, const Row& more) {
  auto& row = sums[std::string(name)];
  if (row.name.empty()) row.name = name;
  row.requests += more.requests;
  row.hits += more.hits;
  row.bytes += more.bytes;
  // A client may ask for any number of URLs and hosts, so that their table is bounded.
  if (sums.size() >= Busiest::kMostNames) forget_rare(sums);
}

Row row_for(const RecentRequest& request, double weight) {
  const bool is_hit = kind_of(request.record) == RecentKind::hit;
  return {{}, weight, is_hit ? weight : 0, weight * static_cast<double>(request.record.bytes)};
}

}  // namespace

RecentKind kind_of(const RequestRecord& record) {
  switch (record.tag) {
    case Tag::mem_hit:
    case Tag::disk_hit:
    case Tag::conditional_hit:
      return RecentKind::hit;
    case Tag::failed:
      return RecentKind::failed;
    default:
      return RecentKind::forwarded;
  }
}

bool RecentRequests::OfThread::wants(const RequestRecord& record) {
  // The dashboard would show mainly what it asks for itself.
  if (record.tag == Tag::own_page || record.tag == Tag::site_question) return false;
  auto& window = windows_[static_cast<std::size_t>(kind_of(record))];
  ++window.all;
  // The begin of the request stands for now, which spares a reading of the clock.
  if (record.begun - window.since >= kWindow) window = {record.begun, 0, window.all};
  // The first of each second, and not the last: the caller need not build the others.
  if (window.taken == kMost) return false;
  ++window.taken;
  return true;
}

void RecentRequests::OfThread::add(const LogEntry& entry) {
  const auto kind = static_cast<std::size_t>(kind_of(entry.record));
  // Made before the lock: readers copy pointers under it, and no text.
  auto request = std::make_shared<RecentRequest>(RecentRequest{.number = ++added_,
                                                               .of_kind = windows_[kind].all,
                                                               .ended = entry.ended,
                                                               .took = entry.took,
                                                               .client = shortened(entry.client),
                                                               .method = shortened(entry.method),
                                                               .url = shortened(entry.url),
                                                               .record = shortened(entry.record)});
  const threads::MutexLock lock(mutex_);
  rings_[kind].push_back(std::move(request));
}

std::vector<RecentRequests::Found> RecentRequests::newer_than(Known& known) {
  std::vector<Found> found;
  known.resize(of_threads_.size());
  for (std::size_t thread = 0; thread < of_threads_.size(); ++thread) {
    auto& of_thread = of_threads_[thread];
    // One lock at a time, each for as long as it takes to copy pointers.
    std::uint64_t newest = known[thread];
    const threads::MutexLock lock(of_thread.mutex_);
    for (const auto& ring : of_thread.rings_) {
      for (auto it = ring.rbegin(); it != ring.rend() && (*it)->number > known[thread]; ++it) {
        newest = std::max(newest, (*it)->number);
        found.push_back({thread, *it});
      }
    }
    known[thread] = newest;
  }
  // The threads' clocks agree, but each thread has only its own order.
  std::ranges::sort(found, [](const Found& a, const Found& b) {
    return std::tie(a.request->ended, a.request->number) <
           std::tie(b.request->ended, b.request->number);
  });
  return found;
}

std::string_view host_in(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme != url.npos) url.remove_prefix(scheme + 3);
  return url.substr(0, url.find_first_of("/?"));
}

void Busiest::record(const std::vector<RecentRequests::Found>& requests, Time now) {
  const threads::MutexLock lock(mutex_);
  auto& part = part_at(now);
  tally(requests);
  for (const auto& found : requests) {
    const auto& request = *found.request;
    const auto row = row_for(request, tally_of(found).weight());
    const auto host = host_in(request.url);
    if (!host.empty()) add(part.hosts, host, row);
    add(part.urls, request.url, row);
    add(part.clients, request.client, row);
  }
}

Busiest::Told Busiest::tell() const {
  Part all{};
  {
    const threads::MutexLock lock(mutex_);
    for (const auto& part : parts_) {
      for (const auto& [from, into] : {std::pair(&part.hosts, &all.hosts),
                                       {&part.urls, &all.urls},
                                       {&part.clients, &all.clients}}) {
        for (const auto& [name, row] : *from) add(*into, name, row);
      }
    }
  }
  return {busiest_of(rows_of(all.hosts), kTold), busiest_of(rows_of(all.urls), kTold),
          busiest_of(rows_of(all.clients), kTold)};
}

Busiest::Part& Busiest::part_at(Time now) {
  if (!parts_.empty() && now - parts_.back().begun < kPart) return parts_.back();
  if (!parts_.empty()) {
    // Before the part ends: later it is only read, for an hour.
    auto& ended = parts_.back();
    for (auto* sums : {&ended.hosts, &ended.urls, &ended.clients}) forget_rare(*sums);
  }
  // Whole parts of ten minutes are forgotten, so that nothing is counted down request by request.
  std::erase_if(parts_, [now](const Part& part) { return now - part.begun >= kParts * kPart; });
  parts_.push_back({.begun = now, .hosts = {}, .urls = {}, .clients = {}});
  return parts_.back();
}

void Busiest::tally(const std::vector<RecentRequests::Found>& requests) {
  for (auto& of_thread : tallies_) {
    // What this call does not see was left out by RecentRequests: the counts tell how much.
    for (auto& tally : of_thread) tally = {tally.newest, tally.newest, 0};
  }
  for (const auto& found : requests) {
    if (found.thread >= tallies_.size()) tallies_.resize(found.thread + 1);
    auto& tally = tally_of(found);
    tally.newest = std::max(tally.newest, found.request->of_kind);
    ++tally.kept;
  }
}

Busiest::Tally& Busiest::tally_of(const RecentRequests::Found& found) {
  return tallies_[found.thread][static_cast<std::size_t>(kind_of(found.request->record))];
}

}  // namespace proxy::observe
