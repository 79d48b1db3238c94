// hearsay digest dedup: passes on each line once, in little memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/command/streams.hpp"

namespace proxy::command {

struct DedupOptions {
  std::vector<std::string> inputs;  // none: standard input
  std::optional<std::uint64_t> capacity;
  std::optional<std::uint64_t> window;  // at most one of capacity and window; neither: it grows
  double rate = 0.001;                  // the share of new lines that may be taken for seen ones
  bool json = false;
  bool quiet = false;
};

// Passes on each line not seen before, in order; seen_sets.hpp says what is remembered. A line that
// is remembered is never passed on again. At most the share `rate` of new lines is lost. Reports
// the cost on `err`, with a window also before it begins, unless `quiet`. SIGINT and SIGTERM act as
// the end of the input, but the exit code is then 130 or 143.
Result<int> dedup(const DedupOptions& options, const Streams& streams);

}  // namespace proxy::command
