#include "proxy/upstream/origin_traffic.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace proxy::upstream {
namespace {

// A page may list hundreds of requests; nobody reads more of a URL.
constexpr std::size_t kLongestUrl = 1024;

// In the order of Awaited.
constexpr std::array<std::string_view, 5> kAwaited{"nothing", "name", "connection", "first-byte",
                                                   "body"};

std::int64_t period_at(OriginRecord::Clock::time_point now) {
  return now.time_since_epoch() / OriginRecord::kPeriod;
}

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

std::optional<FirstBytes::Time> FirstBytes::quantile(double share) const {
  const auto all = std::accumulate(in_bucket_.begin(), in_bucket_.end(), std::uint64_t{0});
  if (all == 0) return std::nullopt;
  double before = share * static_cast<double>(all);
  std::size_t bucket = 0;
  while (bucket + 1 < kBuckets && before > in_bucket_[bucket]) before -= in_bucket_[bucket++];
  // Within a bucket the times are taken to be spread evenly, so the estimate moves smoothly with
  // the share.
  const double inside = std::min(1.0, before / std::max(1U, in_bucket_[bucket]));
  const double begin = begin_of(bucket);
  const double units = begin + inside * (begin_of(bucket + 1) - begin);
  return Time(static_cast<std::int64_t>(units * kUnit));
}

void OriginSums::add(const OriginSums& other) {
  bytes += other.bytes;
  requests += other.requests;
  errors += other.errors;
  for (std::size_t cause = 0; cause < kFailures; ++cause) failures[cause] += other.failures[cause];
  first_bytes.add(other.first_bytes);
}

std::uint64_t OriginSums::failed() const {
  return std::accumulate(failures.begin(), failures.end(), std::uint64_t{errors});
}

// What is too old goes when a period begins, which is seldom; of_hour() passes over it until then.
OriginSums& OriginRecord::at(Clock::time_point now) {
  const auto number = period_at(now);
  if (periods_.empty() || periods_.back().number < number) {
    std::erase_if(periods_,
                  [number](const Period& one) { return one.number <= number - kPeriods; });
    periods_.push_back({number, {}});
  }
  return periods_.back().sums;
}

OriginSums OriginRecord::of_hour(Clock::time_point now) const {
  OriginSums sums;
  for (const auto& one : periods_) {
    if (one.number > period_at(now) - kPeriods) sums.add(one.sums);
  }
  return sums;
}

std::uint64_t OriginRecord::requests(Clock::time_point now) const {
  std::uint64_t requests = 0;
  for (const auto& one : periods_) {
    if (one.number > period_at(now) - kPeriods) requests += one.sums.requests;
  }
  return requests;
}

std::string_view word(Awaited what) {
  return kAwaited[static_cast<std::size_t>(what)];
}

void UnderWay::turn_to(const Endpoint& origin, const Endpoint& server, const Parent* through,
                       Clock::time_point now) {
  await(Awaited::nothing, now);
  // The lock is also what the readers of the three pointers take; the rest is atomic, so that a
  // step of a request costs no lock.
  // A second try of the same request, as over a fresh connection, is no second request.
  const bool is_counted = std::exchange(is_open_, true) && origin_ == &origin;
  if (is_counted && server_ == &server) return;
  const threads::MutexLock lock(at_.mutex_);
  origin_ = &origin;
  server_ = &server;
  through_ = through;
  if (!is_linked()) at_.under_way_.push_back(*this);
  if (is_of_neighbour() || is_counted) return;
  auto& record = at_.record_of(origin, now);
  record.asked = now;
  ++record.at(now).requests;
}

void UnderWay::answered(unsigned status, Clock::time_point now) {
  await(Awaited::nothing);
  is_open_ = false;
  if (is_of_neighbour()) return;
  const auto took = now - since_.load(std::memory_order_relaxed);
  const threads::MutexLock lock(at_.mutex_);
  auto& record = at_.record_of(*origin_, now);
  record.answered = now;
  auto& sums = record.at(now);
  sums.first_bytes.add(std::chrono::duration_cast<FirstBytes::Time>(took));
  if (status >= 500) ++sums.errors;
}

void UnderWay::failed(Failure::What why, Clock::time_point now) {
  await(Awaited::nothing);
  is_open_ = false;
  if (is_of_neighbour() || !origin_) return;
  if (!is_of_origin(why) && why != Failure::What::dns) return;
  const threads::MutexLock lock(at_.mutex_);
  ++at_.record_of(*origin_, now).at(now).failures[static_cast<std::size_t>(why)];
}

void UnderWay::end() {
  if (!origin_) return;
  const auto why = awaited() == Awaited::name ? Failure::What::dns : Failure::What::abandoned;
  await(Awaited::nothing);
  const auto since = since_.load(std::memory_order_relaxed);
  const auto now = is_open_ ? at_.clock_.steady() : since;
  // A client that leaves at once says nothing of the origin.
  const bool is_given_up = std::exchange(is_open_, false) && now - since >= kPatience;
  const auto bytes = bytes_.load(std::memory_order_relaxed);
  if (!is_linked() && bytes == 0) return;
  const threads::MutexLock lock(at_.mutex_);
  if (is_linked()) at_.under_way_.erase(at_.under_way_.iterator_to(*this));
  if (is_of_neighbour() || (bytes == 0 && !is_given_up)) return;
  auto& sums = at_.record_of(*origin_, now).at(now);
  sums.bytes += bytes;
  bytes_.store(0, std::memory_order_relaxed);
  if (is_given_up) ++sums.failures[static_cast<std::size_t>(why)];
}

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
  // The least asked one goes, and not the one asked longest ago: a crawl over many names asks each
  // of them just now.
  const auto worth = [now](const auto& one) {
    return std::tuple(one.second.requests(now), one.second.asked);
  };
  // The last one found may be the one that goes.
  last_ = nullptr;
  records_.erase(std::min_element(
      records_.begin(), records_.end(),
      [&worth](const auto& one, const auto& other) { return worth(one) < worth(other); }));
}

std::vector<OriginTraffic::Origin> OriginTraffic::origins(Clock::time_point now) const {
  std::map<std::string, Origin> by_name;
  for (const auto& of_thread : of_threads_) {
    const threads::MutexLock lock(of_thread.mutex_);
    for (const auto& [origin, record] : of_thread.records_) {
      by_name[name_of(origin)].sums.add(record.of_hour(now));
    }
    for (const auto& one : of_thread.under_way_) {
      // What goes through a parent waits for the parent.
      const bool is_direct = !one.is_of_neighbour() && !one.through_;
      if (is_direct && one.awaited() != Awaited::nothing) ++by_name[name_of(*one.server_)].waiting;
    }
  }
  std::vector<Origin> all;
  for (auto& [name, origin] : by_name) {
    origin.name = name;
    if (origin.sums.requests > 0) all.push_back(std::move(origin));
  }
  // Stable: of equals, the order of the names stays, and a page does not jump.
  std::stable_sort(all.begin(), all.end(), [](const Origin& a, const Origin& b) {
    return a.sums.requests > b.sums.requests;
  });
  return all;
}

// Texts are made only of those that may be among the longest: thousands of requests may wait, and a
// thread stands still while its list is read.
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
      auto rest = line.substr(std::min(line.size(), method.size() + 1));
      // A signature in the query gives whoever has it what it signs.
      if (request->to_ == UnderWay::To::redirected) rest = rest.substr(0, rest.find('?'));
      waits.longest.push_back(
          {.method = std::string(method),
           .url = url_of(*request->origin_, rest.substr(0, rest.find(' '))),
           .server = request->through_ ? request->through_->name : name_of(*request->server_),
           .of = request->is_of_neighbour() ? Of::neighbour
                 : request->through_        ? Of::parent
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
      if (one.is_of_neighbour() || one.through_) continue;
      auto& silence = by_origin[*one.server_];
      silence.since = silence.requests++ == 0 ? since : std::min(silence.since, since);
      silence.silent = silence.since;
    }
  }
  // Any thread may have had the last answer.
  for (const auto& of_thread : of_threads_) {
    const threads::MutexLock lock(of_thread.mutex_);
    for (auto& [origin, silence] : by_origin) {
      const auto found = of_thread.records_.find(origin);
      if (found == of_thread.records_.end()) continue;
      silence.silent = std::max(silence.silent, found->second.answered);
    }
  }
  std::vector<Silence> all;
  for (auto& [origin, silence] : by_origin) {
    silence.origin = name_of(origin);
    silence.mapped = origin.named_by == NamedBy::configured;
    all.push_back(std::move(silence));
  }
  std::sort(all.begin(), all.end(),
            [](const Silence& a, const Silence& b) { return a.origin < b.origin; });
  return all;
}

}  // namespace proxy::upstream
