#include "proxy/observe/recent_requests.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace proxy {
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
  kept.rule = kept.denied_by = {};
  kept.upstream_host = shortened(record.upstream_host);
  kept.told = shortened(record.told);
  return kept;
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
  if (record.tag == Tag::own_page || record.tag == Tag::site_question) return false;
  auto& window = windows_[static_cast<std::size_t>(kind_of(record))];
  ++window.all;
  // The begin of the request stands for now, which spares a reading of the clock.
  if (record.begun - window.since >= kWindow) window = {record.begun, 0, window.all};
  if (window.taken == kMost) return false;
  ++window.taken;
  return true;
}

void RecentRequests::OfThread::add(const LogEntry& entry) {
  const auto kind = static_cast<std::size_t>(kind_of(entry.record));
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
  std::ranges::sort(found, [](const Found& a, const Found& b) {
    return std::tie(a.request->ended, a.request->number) <
           std::tie(b.request->ended, b.request->number);
  });
  return found;
}

}  // namespace proxy
