#include "proxy/observe/history.hpp"

#include <algorithm>

namespace proxy::observe {
namespace {

using std::chrono::sys_seconds;

constexpr std::size_t at(auto value) {
  return static_cast<std::size_t>(value);
}

constexpr Tag kHitTags[] = {Tag::mem_hit, Tag::disk_hit, Tag::conditional_hit};

constexpr bool is_of_client(std::size_t tag) {
  return tag != at(Tag::own_page) && tag != at(Tag::purge) && tag != at(Tag::site_question);
}

std::uint64_t failed_by_origins(const Metrics& metrics) {
  std::uint64_t sum = 0;
  for (std::size_t cause = 0; cause < upstream::kFailures; ++cause) {
    const auto what = static_cast<upstream::Failure::What>(cause);
    // A name that does not exist is most often a typing error of a client.
    if (!upstream::is_of_origin(what) || what == upstream::Failure::What::no_address) continue;
    sum += metrics.sum(&ThreadCounters::failed, cause);
  }
  return sum;
}

std::uint64_t received_from(const Metrics& metrics, Hierarchy source) {
  return metrics.sum(&ThreadCounters::upstream_bytes, at(source));
}

// In the order of Series.
constexpr std::array<std::string_view, kSeries> kNames{
    "requests",        "hits",         "failed",           "refused", "sent_bytes", "cache_bytes",
    "neighbour_bytes", "origin_bytes", "failed_by_origins"};

}  // namespace

std::string_view name_of(Series series) {
  return kNames[at(series)];
}

Sample totals_of(const Metrics& metrics) {
  const auto by_tag = [&](Tag tag) { return metrics.sum(&ThreadCounters::requests, at(tag)); };
  Sample sample{};
  for (std::size_t tag = 0; tag < kTags; ++tag) {
    // Our own pages would make a dashboard that is open look like a busy proxy.
    if (is_of_client(tag)) sample[at(Series::requests)] += by_tag(static_cast<Tag>(tag));
  }
  for (const Tag tag : kHitTags) sample[at(Series::hits)] += by_tag(tag);
  sample[at(Series::failed)] = by_tag(Tag::failed);
  sample[at(Series::refused)] = by_tag(Tag::denied);
  sample[at(Series::sent_bytes)] = metrics.sum(&ThreadCounters::bytes_sent);
  sample[at(Series::cache_bytes)] = metrics.sum(&ThreadCounters::bytes_from_cache);
  sample[at(Series::neighbour_bytes)] =
      received_from(metrics, Hierarchy::sibling) + received_from(metrics, Hierarchy::parent_hit);
  sample[at(Series::origin_bytes)] =
      received_from(metrics, Hierarchy::direct) + received_from(metrics, Hierarchy::parent);
  sample[at(Series::failed_by_origins)] = failed_by_origins(metrics);
  return sample;
}

void History::record(sys_seconds now, const Sample& totals) {
  const threads::MutexLock lock(mutex_);
  if (last_ && now <= last_->at) return;
  // After a long sleep of the machine, an hour of equal seconds would tell nothing.
  const bool begins = !last_ || now - last_->at > kLongestGap;
  if (begins) {
    seconds_.clear();
    minutes_.clear();
    minute_ = {};
    begun_ = now;
    last_ = {now, totals};
    return;
  }
  // A busy machine may skip seconds. The totals are spread, so that no peak shows that never was.
  const auto passed = static_cast<std::uint64_t>((now - last_->at).count());
  Sample each{};
  Sample rest{};
  for (std::size_t i = 0; i < kSeries; ++i) {
    const auto counted = totals[i] - std::min(totals[i], last_->totals[i]);
    each[i] = counted / passed;
    // What does not divide evenly counts in the last second, so that the sums stay exact.
    rest[i] = each[i] + counted % passed;
  }
  for (std::uint64_t i = 1; i <= passed; ++i) {
    append(last_->at + std::chrono::seconds(i), i == passed ? rest : each);
  }
  last_ = {now, totals};
}

void History::append(sys_seconds ends, const Sample& second) {
  // The oldest gives way: the buffer is full after an hour.
  seconds_.push_back(second);
  for (std::size_t i = 0; i < kSeries; ++i) minute_[i] += second[i];
  if (ends != std::chrono::floor<std::chrono::minutes>(ends)) return;
  // A minute of which only a part was recorded would look like a quiet one.
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

}  // namespace proxy::observe
