#include "proxy/command/digest/dedup.hpp"

#include <type_traits>

#include "proxy/command/digest/line_key.hpp"
#include "proxy/command/digest/seen_sets.hpp"
#include "proxy/command/interrupt.hpp"
#include "proxy/command/lines.hpp"

namespace proxy::command {
namespace {

struct Counts {
  std::uint64_t lines = 0;
  std::uint64_t passed = 0;
};

// Reports the cost in advance: the end of an endless stream never comes.
void announce(const WindowSeenSet& seen, const DedupOptions& options, int err) {
  Report report;
  report.add("remembers", seen.remembers()).add("filter_bytes", std::uint64_t{seen.byte_count()});
  report.add("false_positive_rate_bound", options.rate);
  say(err, options.json ? report.json() : report.text());
}

template <class SeenSet>
Result<void> pass_on(SeenSet& seen, const std::vector<InputFile>& inputs,
                     const Interrupt& interrupt, Progress& progress, Output& out, Counts& counts) {
  const digest::Salt salt = random_salt();
  for (const InputFile& input : inputs) {
    if (interrupt.signal() != 0) break;
    progress.begin("deduplicating " + input.name(), input.size());
    Lines lines(input, progress, &out, &interrupt);
    while (const auto line = lines.next()) {
      if (out.closed()) return {};
      ++counts.lines;
      const auto fresh = seen.insert(line_key(salt, *line));
      if (!fresh) return lines.at_line(fresh.error().text);
      if (!*fresh) continue;
      out.line(*line);
      ++counts.passed;
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
  Counts counts;
  const auto passed = pass_on(*seen, *inputs, interrupt, progress, out, counts);
  const auto written = out.finish();
  progress.clear();
  if (!passed) return passed.error();
  if (!written) return written.error();
  const Report report = report_of(*seen, counts, options.rate);
  if (!options.quiet) say(streams.err, options.json ? report.json() : report.text());
  return interrupt.signal() == 0 ? kDone : kSignalled + interrupt.signal();
}

}  // namespace

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
