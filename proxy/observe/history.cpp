#include "proxy/observe/history.hpp"

#include <algorithm>

namespace proxy {
namespace {

using std::chrono::sys_seconds;

constexpr std::size_t at(auto value) {
  return static_cast<std::size_t>(value);
}

constexpr Tag kHitTags[] = {Tag::mem_hit, Tag::disk_hit, Tag::conditional_hit};
constexpr Tag kNotOfClients[] = {Tag::own_page, Tag::purge, Tag::site_question};

constexpr bool is_of_client(std::size_t tag) {
  return std::none_of(std::begin(kNotOfClients), std::end(kNotOfClients),
                      [tag](Tag other) { return at(other) == tag; });
}

std::uint64_t sum_of(const Metrics& metrics, Tag tag) {
  return metrics.sum(
      [tag](const ThreadCounters& c) -> const Count& { return c.requests[at(tag)]; });
}

std::uint64_t failed_by_origins(const Metrics& metrics) {
  std::uint64_t sum = 0;
  for (std::size_t cause = 0; cause < kFailures; ++cause) {
    const auto what = static_cast<Failure::What>(cause);
    if (!is_of_origin(what) || what == Failure::What::no_address) continue;
    sum +=
        metrics.sum([cause](const ThreadCounters& c) -> const Count& { return c.failed[cause]; });
  }
  return sum;
}

std::uint64_t received_from(const Metrics& metrics, Hierarchy source) {
  return metrics.sum(
      [source](const ThreadCounters& c) -> const Count& { return c.upstream_bytes[at(source)]; });
}

}  // namespace

std::string_view name_of(Series series) {
  switch (series) {
    case Series::requests:
      return "requests";
    case Series::hits:
      return "hits";
    case Series::failed:
      return "failed";
    case Series::refused:
      return "refused";
    case Series::sent_bytes:
      return "sent_bytes";
    case Series::cache_bytes:
      return "cache_bytes";
    case Series::neighbour_bytes:
      return "neighbour_bytes";
    case Series::origin_bytes:
      return "origin_bytes";
    case Series::failed_by_origins:
      return "failed_by_origins";
  }
  return "";
}

Sample totals_of(const Metrics& metrics) {
  Sample sample{};
  for (std::size_t tag = 0; tag < kTags; ++tag) {
    if (is_of_client(tag)) sample[at(Series::requests)] += sum_of(metrics, static_cast<Tag>(tag));
  }
  for (const Tag tag : kHitTags) sample[at(Series::hits)] += sum_of(metrics, tag);
  sample[at(Series::failed)] = sum_of(metrics, Tag::failed);
  sample[at(Series::refused)] = sum_of(metrics, Tag::denied);
  sample[at(Series::sent_bytes)] =
      metrics.sum([](const ThreadCounters& c) -> const Count& { return c.bytes_sent; });
  sample[at(Series::cache_bytes)] =
      metrics.sum([](const ThreadCounters& c) -> const Count& { return c.bytes_from_cache; });
  sample[at(Series::neighbour_bytes)] =
      received_from(metrics, Hierarchy::sibling) + received_from(metrics, Hierarchy::parent_hit);
  sample[at(Series::origin_bytes)] =
      received_from(metrics, Hierarchy::direct) + received_from(metrics, Hierarchy::parent);
  sample[at(Series::failed_by_origins)] = failed_by_origins(metrics);
  return sample;
}

void History::note(sys_seconds now, const Sample& totals) {
  const threads::MutexLock lock(mutex_);
  if (last_ && now <= last_->at) return;
  const bool begins = !last_ || now - last_->at > kLongestGap;
  if (begins) {
    seconds_.clear();
    minutes_.clear();
    minute_ = {};
    begun_ = now;
    last_ = {now, totals};
    return;
  }
  const auto passed = static_cast<std::uint64_t>((now - last_->at).count());
  Sample each{};
  Sample rest{};
  for (std::size_t i = 0; i < kSeries; ++i) {
    const auto counted = totals[i] - std::min(totals[i], last_->totals[i]);
    each[i] = counted / passed;
    rest[i] = each[i] + counted % passed;
  }
  for (std::uint64_t i = 1; i <= passed; ++i) {
    append(last_->at + std::chrono::seconds(i), i == passed ? rest : each);
  }
  last_ = {now, totals};
}

void History::append(sys_seconds ends, const Sample& second) {
  seconds_.push_back(second);
  for (std::size_t i = 0; i < kSeries; ++i) minute_[i] += second[i];
  if (ends != std::chrono::floor<std::chrono::minutes>(ends)) return;
  const bool is_whole = begun_ <= ends - std::chrono::minutes(1);
  if (is_whole) {
    minutes_.push_back(minute_);
    minutes_end_ = ends;
  }
  minute_ = {};
}

History::Span History::hour() const {
  const threads::MutexLock lock(mutex_);
  return {std::chrono::seconds(1),
          last_ ? last_->at : sys_seconds{},
          {seconds_.begin(), seconds_.end()}};
}

History::Span History::day() const {
  const threads::MutexLock lock(mutex_);
  return {std::chrono::minutes(1), minutes_end_, {minutes_.begin(), minutes_.end()}};
}

History::Latest History::latest() const {
  const threads::MutexLock lock(mutex_);
  if (seconds_.empty()) return {};
  return {last_->at, seconds_.back()};
}

Sample History::sum_of_last(std::chrono::seconds time) const {
  const threads::MutexLock lock(mutex_);
  Sample sum{};
  const auto number = std::min(seconds_.size(), static_cast<std::size_t>(time.count()));
  for (auto it = seconds_.end() - static_cast<std::ptrdiff_t>(number); it != seconds_.end(); ++it) {
    for (std::size_t i = 0; i < kSeries; ++i) sum[i] += (*it)[i];
  }
  return sum;
}

}  // namespace proxy
