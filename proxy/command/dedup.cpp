#include "proxy/command/dedup.hpp"

#include "proxy/command/line_key.hpp"
#include "proxy/command/lines.hpp"
#include "proxy/command/seen.hpp"

namespace proxy::command {
namespace {

struct Counts {
  std::uint64_t lines = 0;
  std::uint64_t passed = 0;
};

template <class Seen>
Result<void> pass_on(Seen& seen, const std::vector<Input>& inputs, const Streams& streams,
                     Output& out, Counts& counts) {
  const digest::Salt salt = random_salt();
  Progress progress(streams);
  for (const Input& input : inputs) {
    progress.stage("deduplicating " + input.name(), input.size());
    Lines lines(input, progress, &out);
    while (const auto line = lines.next()) {
      if (out.done()) return {};
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

template <class Seen>
Result<int> dedup_with(Result<Seen> seen, const DedupOptions& options, const Streams& streams) {
  if (!seen) return seen.error();
  const auto inputs = open_all(options.inputs, streams);
  if (!inputs) return inputs.error();
  Output out(streams.out);
  Counts counts;
  const auto passed = pass_on(*seen, *inputs, streams, out, counts);
  const auto written = out.finish();
  if (!passed) return passed.error();
  if (!written) return written.error();
  Report report;
  report.add("lines", counts.lines).add("passed_on", counts.passed);
  report.add("dropped", counts.lines - counts.passed).add(seen->describe());
  report.add("false_positive_rate_bound", options.rate);
  if (!options.quiet) say(streams.err, report.as(options.json));
  return kDone;
}

}  // namespace

Result<int> dedup(const DedupOptions& options, const Streams& streams) {
  if (options.capacity) {
    return dedup_with(BoundedSeen::create(*options.capacity, options.rate), options, streams);
  }
  if (options.window) {
    return dedup_with(WindowSeen::create(*options.window, options.rate), options, streams);
  }
  return dedup_with(GrowingSeen::create(options.rate), options, streams);
}

}  // namespace proxy::command
