#include "proxy/command/digest/seen_sets.hpp"

#include <fmt/format.h>

#include <utility>

#include "digest/sizing.hpp"

namespace proxy::command {
namespace {

// Takes 2.5 MB at a rate of 0.001; few further stages hold very many keys.
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

Result<GrowingSeenSet> GrowingSeenSet::create(double rate) {
  auto filter = digest::ScalableFilter::create({.capacity = kFirstStage, .rate = rate});
  if (!filter) return cannot_size("--fpr, from", kFirstStage, filter.error());
  return GrowingSeenSet(std::move(*filter));
}

Result<bool> GrowingSeenSet::insert(const digest::Key& key) {
  const auto fresh = filter_.insert(key);
  if (fresh) return *fresh;
  return Trouble{
      fmt::format("after {} distinct lines the filter cannot grow any more; with --window "
                  "the oldest lines are forgotten instead",
                  filter_.entries())};
}

Report GrowingSeenSet::describe() const {
  return report_of("all lines", filter_.byte_count(), filter_.false_positive_rate());
}

Result<BoundedSeenSet> BoundedSeenSet::create(std::uint64_t capacity, double rate) {
  auto filter = filter_for("--capacity", capacity, rate);
  if (!filter) return filter.error();
  return BoundedSeenSet(digest::StrictFilter(std::move(*filter), capacity));
}

Result<bool> BoundedSeenSet::insert(const digest::Key& key) {
  const auto fresh = filter_.insert(key);
  if (fresh) return *fresh;
  return Trouble{
      fmt::format("is one more distinct line than the capacity of {}, beyond which the "
                  "error rate would not hold; give a larger --capacity, or none to "
                  "grow, or --window to forget",
                  filter_.capacity())};
}

Report BoundedSeenSet::describe() const {
  const auto& filter = filter_.filter();
  return report_of(fmt::format("all lines, up to {} distinct ones", filter_.capacity()),
                   filter.bytes().size(), filter.false_positive_rate());
}

// Each of the two filters may be wrong half as often.
Result<WindowSeenSet> WindowSeenSet::create(std::uint64_t window, double rate) {
  auto filter = filter_for("--window", window, rate / 2);
  if (!filter) return filter.error();
  return WindowSeenSet(window, std::move(*filter));
}

Result<bool> WindowSeenSet::insert(const digest::Key& key) {
  if (recent_.contains(key)) return false;
  const bool known = older_.contains(key);
  recent_.insert(key);
  renewed_ += known ? 1 : 0;
  if (++recent_keys_ == window_) turn();
  return !known;
}

void WindowSeenSet::turn() {
  forgotten_ += older_keys_ - renewed_;
  std::swap(recent_, older_);
  recent_.clear();
  older_keys_ = std::exchange(recent_keys_, 0);
  renewed_ = 0;
}

std::string WindowSeenSet::remembers() const {
  return fmt::format("the last {} to {} distinct lines", window_, 2 * window_);
}

Report WindowSeenSet::describe() const {
  const double right = (1 - recent_.false_positive_rate()) * (1 - older_.false_positive_rate());
  return report_of(remembers(), byte_count(), 1 - right).add("forgotten", forgotten_);
}

}  // namespace proxy::command
