#include "proxy/upstream/origin_traffic.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace proxy::upstream {
namespace {

constexpr std::size_t kLongestUrl = 1024;

// The URL that the request line asks an origin for.
std::string url_of(const Endpoint& origin, std::string_view target) {
  if (!target.starts_with('/')) return std::string(target.substr(0, kLongestUrl));
  auto url = name_of(origin);
  const std::string_view usual = origin.tls ? ":443" : ":80";
  if (url.ends_with(usual)) url.resize(url.size() - usual.size());
  url += target.substr(0, kLongestUrl);
  return url;
}

}  // namespace

OriginRecord& TrafficOfThread::record_of(const Endpoint& origin, Clock::time_point now) {
  if (last_ && last_->first == origin) return last_->second;
  auto found = records_.find(origin);
  if (found == records_.end()) {
    if (records_.size() >= kMost) make_room(now);
    found = records_.try_emplace(origin).first;
    found->second.asked = now;
  }
  last_ = &*found;
  return found->second;
}

void TrafficOfThread::make_room(Clock::time_point now) {
  const auto worth = [now](const auto& one) {
    return std::tuple(one.second.requests(now), one.second.asked);
  };
  last_ = nullptr;
  records_.erase(std::min_element(
      records_.begin(), records_.end(),
      [&worth](const auto& one, const auto& other) { return worth(one) < worth(other); }));
}

std::optional<TrafficOfThread::Clock::time_point> TrafficOfThread::answered(
    const Endpoint& origin) const {
  const threads::MutexLock lock(mutex_);
  const auto found = records_.find(origin);
  if (found == records_.end()) return std::nullopt;
  return found->second.answered;
}

std::vector<OriginTraffic::Origin> OriginTraffic::origins(Clock::time_point now) const {
  std::map<std::string, Origin> by_name;
  for (const auto& of_thread : of_threads_) {
    const threads::MutexLock lock(of_thread.mutex_);
    for (const auto& [origin, record] : of_thread.records_) {
      by_name[name_of(origin)].sums.add(record.of_hour(now));
    }
    for (const auto& one : of_thread.under_way_) {
      const bool is_direct = !one.of_neighbour_ && !one.through_;
      if (is_direct && one.awaited() != Awaited::nothing) ++by_name[name_of(*one.server_)].waiting;
    }
  }
  std::vector<Origin> all;
  for (auto& [name, origin] : by_name) {
    origin.name = name;
    if (origin.sums.requests > 0) all.push_back(std::move(origin));
  }
  std::stable_sort(all.begin(), all.end(), [](const Origin& a, const Origin& b) {
    return a.sums.requests > b.sums.requests;
  });
  return all;
}

OriginTraffic::Waits OriginTraffic::waits(std::size_t most) const {
  using Of = Wait::Of;
  const auto by_time = [](const auto& a, const auto& b) { return a.since < b.since; };
  struct Found {
    Clock::time_point since;
    const UnderWay* request;
  };
  Waits waits;
  for (const auto& of_thread : of_threads_) {
    std::vector<Found> found;
    const threads::MutexLock lock(of_thread.mutex_);
    for (const auto& one : of_thread.under_way_) {
      if (one.awaited_.load(std::memory_order_relaxed) == Awaited::nothing) continue;
      found.push_back({one.since_.load(std::memory_order_relaxed), &one});
    }
    waits.number += found.size();
    std::sort(found.begin(), found.end(), by_time);
    found.resize(std::min(found.size(), most));
    for (const auto& [since, request] : found) {
      const auto line = request->head_.substr(0, request->head_.find('\r'));
      const auto method = line.substr(0, line.find(' '));
      const auto rest = line.substr(std::min(line.size(), method.size() + 1));
      waits.longest.push_back(
          {.method = std::string(method),
           .url = url_of(*request->origin_, rest.substr(0, rest.find(' '))),
           .server = request->through_ ? request->through_->name : name_of(*request->server_),
           .of = request->of_neighbour_ ? Of::neighbour
                 : request->through_    ? Of::parent
                                        : Of::origin,
           .what = request->awaited_.load(std::memory_order_relaxed),
           .since = since,
           .bytes = request->bytes_.load(std::memory_order_relaxed)});
    }
  }
  std::stable_sort(waits.longest.begin(), waits.longest.end(), by_time);
  waits.longest.resize(std::min(waits.longest.size(), most));
  return waits;
}

std::vector<OriginTraffic::Silence> OriginTraffic::silences(Clock::time_point now) const {
  std::unordered_map<Endpoint, Silence> by_origin;
  for (const auto& of_thread : of_threads_) {
    const threads::MutexLock lock(of_thread.mutex_);
    for (const auto& one : of_thread.under_way_) {
      const auto what = one.awaited_.load(std::memory_order_relaxed);
      const auto since = one.since_.load(std::memory_order_relaxed);
      const bool waits = what == Awaited::connection || what == Awaited::first_byte;
      if (!waits || now - since < UnderWay::kPatience) continue;
      if (one.of_neighbour_ || one.through_) continue;
      auto& silence = by_origin[*one.server_];
      silence.since = silence.requests == 0 ? since : std::min(silence.since, since);
      silence.requests += 1;
    }
  }
  std::vector<Silence> all;
  for (auto& [origin, silence] : by_origin) {
    silence.origin = name_of(origin);
    silence.mapped = origin.trust == Trust::configured;
    silence.silent = silence.since;
    for (const auto& of_thread : of_threads_) {
      if (const auto last = of_thread.answered(origin))
        silence.silent = std::max(silence.silent, *last);
    }
    all.push_back(std::move(silence));
  }
  std::sort(all.begin(), all.end(),
            [](const Silence& a, const Silence& b) { return a.origin < b.origin; });
  return all;
}

}  // namespace proxy::upstream
