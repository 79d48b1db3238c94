#include "proxy/command/digest/seen_sets.hpp"

#include <fmt/format.h>

#include <utility>

#include "digest/plan.hpp"

namespace proxy::command {
namespace {

// 2.5 MB at a rate of 0.001; from there it takes few stages to hold much.
constexpr std::uint64_t kFirstStage = std::uint64_t{1} << 20;

Trouble cannot_size(std::string_view option, std::uint64_t entries, digest::SizingError error) {
  return {fmt::format("{} {}: no filter can be made for so many lines at this rate: {}", option,
                      entries, to_string(error))};
}

Result<digest::BloomFilter> filter_for(std::string_view option, std::uint64_t entries,
                                       double rate) {
  const auto shape = digest::shape_for(entries, rate);
  if (!shape) return cannot_size(option, entries, shape.error());
  return *digest::BloomFilter::create(*shape);
}

Report report_of(std::string remembers, std::uint64_t bytes, double rate) {
  return Report()
      .add("remembers", std::move(remembers))
      .add("filter_bytes", bytes)
      .add("false_positive_rate", rate);
}

}  // namespace

Result<GrowingSeen> GrowingSeen::create(double rate) {
  auto filter = digest::ScalableFilter::create({.capacity = kFirstStage, .rate = rate});
  if (!filter) return cannot_size("--fpr, from", kFirstStage, filter.error());
  return GrowingSeen(std::move(*filter));
}

Result<bool> GrowingSeen::insert(const digest::Key& key) {
  const auto fresh = filter_.insert(key);
  if (fresh) return *fresh;
  return Trouble{
      fmt::format("after {} distinct lines the filter cannot grow any more; --window "
                  "forgets the oldest instead",
                  filter_.entries())};
}

Report GrowingSeen::describe() const {
  return report_of("all lines", filter_.byte_count(), filter_.false_positive_rate());
}

Result<BoundedSeen> BoundedSeen::create(std::uint64_t capacity, double rate) {
  auto filter = filter_for("--capacity", capacity, rate);
  if (!filter) return filter.error();
  return BoundedSeen(digest::StrictFilter(std::move(*filter), capacity));
}

Result<bool> BoundedSeen::insert(const digest::Key& key) {
  const auto fresh = filter_.insert(key);
  if (fresh) return *fresh;
  return Trouble{
      fmt::format("is one more distinct line than the capacity of {}, beyond which the "
                  "error rate would not hold; give a larger --capacity, or none to "
                  "grow, or --window to forget",
                  filter_.capacity())};
}

Report BoundedSeen::describe() const {
  const auto& filter = filter_.filter();
  return report_of(fmt::format("all lines, up to {} distinct ones", filter_.capacity()),
                   filter.bytes().size(), filter.false_positive_rate());
}

// Each of the two may be wrong half as often.
Result<WindowSeen> WindowSeen::create(std::uint64_t window, double rate) {
  auto filter = filter_for("--window", window, rate / 2);
  if (!filter) return filter.error();
  return WindowSeen(window, std::move(*filter));
}

Result<bool> WindowSeen::insert(const digest::Key& key) {
  if (recent_.contains(key)) return false;
  const bool known = older_.contains(key);
  recent_.insert(key);
  renewed_ += known ? 1 : 0;
  if (++recent_held_ == window_) turn();
  return !known;
}

void WindowSeen::turn() {
  forgotten_ += older_held_ - renewed_;
  std::swap(recent_, older_);
  recent_.clear();
  older_held_ = std::exchange(recent_held_, 0);
  renewed_ = 0;
}

std::string WindowSeen::remembers() const {
  return fmt::format("the last {} to {} distinct lines", window_, 2 * window_);
}

Report WindowSeen::describe() const {
  const double right = (1 - recent_.false_positive_rate()) * (1 - older_.false_positive_rate());
  return report_of(remembers(), byte_count(), 1 - right).add("forgotten", forgotten_);
}

}  // namespace proxy::command
