#include <fmt/format.h>

#include <type_traits>
#include <utility>

#include "digest/bloom_filter.hpp"
#include "digest/scalable_filter.hpp"
#include "digest/sizing.hpp"
#include "proxy/command/digest.hpp"
#include "proxy/command/interrupt.hpp"
#include "proxy/command/line_sets.hpp"
#include "proxy/command/lines.hpp"

namespace proxy::command {
namespace {

// In each set, insert(key) returns true if the key is new, and remembers it. A key that the set
// remembers is never taken for new; at most the share `rate` of new keys is taken for remembered.
// describe() reports what is remembered, in how many bytes, and the present error rate.

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

// Remembers all keys, and grows.
struct GrowingSeenSet {
  static Result<GrowingSeenSet> create(double rate) {
    auto filter = digest::ScalableFilter::create({.capacity = kFirstStage, .rate = rate});
    if (!filter) return cannot_size("--fpr, from", kFirstStage, filter.error());
    return GrowingSeenSet{std::move(*filter)};
  }
  Result<bool> insert(const digest::Key& key) {
    const auto fresh = filter.insert(key);
    if (fresh) return *fresh;
    return Trouble{
        fmt::format("after {} distinct lines the filter cannot grow any more; with --window "
                    "the oldest lines are forgotten instead",
                    filter.entries())};
  }
  Report describe() const {
    return report_of("all lines", filter.byte_count(), filter.false_positive_rate());
  }

  digest::ScalableFilter filter;
};

// Remembers `capacity` keys; one more new key is trouble.
struct BoundedSeenSet {
  static Result<BoundedSeenSet> create(std::uint64_t capacity, double rate) {
    auto filter = filter_for("--capacity", capacity, rate);
    if (!filter) return filter.error();
    return BoundedSeenSet{digest::StrictFilter(std::move(*filter), capacity)};
  }
  Result<bool> insert(const digest::Key& key) {
    const auto fresh = set.insert(key);
    if (fresh) return *fresh;
    return Trouble{
        fmt::format("is one more distinct line than the capacity of {}, beyond which the error "
                    "rate would not hold; give a larger --capacity, or none to grow, or --window "
                    "to forget",
                    set.capacity())};
  }
  Report describe() const {
    return report_of(fmt::format("all lines, up to {} distinct ones", set.capacity()),
                     set.filter().bytes().size(), set.filter().false_positive_rate());
  }

  digest::StrictFilter set;
};

struct Counts {
  std::uint64_t lines = 0;
  std::uint64_t passed = 0;
};

// Where pass_on() writes to, and what it counts.
struct Sink {
  const Interrupt& interrupt;
  Progress& progress;
  Output& out;
  Counts counts = {};
};

// Reports the cost in advance: the end of an endless stream never comes.
void announce(const WindowSeenSet& seen, const DedupOptions& options, int err) {
  Report report;
  report.add("remembers", seen.remembers()).add("filter_bytes", std::uint64_t{seen.byte_count()});
  report.add("false_positive_rate_bound", options.rate);
  say(err, options.json ? report.json() : report.text());
}

template <class SeenSet>
Result<void> pass_on(SeenSet& seen, const std::vector<InputFile>& inputs, Sink& sink) {
  const digest::Salt salt = random_salt();
  for (const InputFile& input : inputs) {
    // The files that follow are left alone; what is passed on is complete up to here.
    if (sink.interrupt.signal() != 0) break;
    sink.progress.begin("deduplicating " + input.name(), input.size());
    Lines lines(input, sink.progress, &sink.out, &sink.interrupt);
    while (const auto line = lines.next()) {
      // A closed pipe ends the work, and not with trouble.
      if (sink.out.closed()) return {};
      ++sink.counts.lines;
      const auto fresh = seen.insert(line_key(salt, *line));
      if (!fresh) return lines.at_line(fresh.error().text);
      if (!*fresh) continue;
      sink.out.line(*line);
      ++sink.counts.passed;
    }
    if (lines.trouble()) return *lines.trouble();
  }
  return {};
}

template <class SeenSet>
Report report_of(const SeenSet& seen, const Counts& counts, double rate) {
  Report report;
  report.add("lines", counts.lines).add("passed_on", counts.passed);
  report.add("dropped", counts.lines - counts.passed).add(seen.describe());
  report.add("false_positive_rate_bound", rate);
  return report;
}

template <class SeenSet>
Result<int> dedup_with(Result<SeenSet> seen, const DedupOptions& options, const Streams& streams) {
  if (!seen) return seen.error();
  const auto inputs = open_all(options.inputs, streams);
  if (!inputs) return inputs.error();
  if constexpr (std::is_same_v<SeenSet, WindowSeenSet>) {
    if (!options.quiet) announce(*seen, options, streams.err);
  }
  const Interrupt interrupt;
  Progress progress(streams, Printing::lines);
  Output out(streams.out);
  Sink sink{interrupt, progress, out};
  const auto passed = pass_on(*seen, *inputs, sink);
  const auto written = out.finish();
  progress.clear();
  if (!passed) return passed.error();
  if (!written) return written.error();
  const Report report = report_of(*seen, sink.counts, options.rate);
  if (!options.quiet) say(streams.err, options.json ? report.json() : report.text());
  return interrupt.signal() == 0 ? kDone : kSignalled + interrupt.signal();
}

}  // namespace

// Each of the two filters may be wrong half as often.
Result<WindowSeenSet> WindowSeenSet::create(std::uint64_t window, double rate) {
  auto filter = filter_for("--window", window, rate / 2);
  if (!filter) return filter.error();
  return WindowSeenSet(window, std::move(*filter));
}

Result<bool> WindowSeenSet::insert(const digest::Key& key) {
  if (recent_.contains(key)) return false;
  const bool known = older_.contains(key);
  // Also if it is known: a line that occurs again is remembered for another window.
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

Result<int> dedup(const DedupOptions& options, const Streams& streams) {
  if (options.capacity) {
    return dedup_with(BoundedSeenSet::create(*options.capacity, options.rate), options, streams);
  }
  if (options.window) {
    return dedup_with(WindowSeenSet::create(*options.window, options.rate), options, streams);
  }
  return dedup_with(GrowingSeenSet::create(options.rate), options, streams);
}

}  // namespace proxy::command
