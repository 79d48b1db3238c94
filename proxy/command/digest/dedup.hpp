// hearsay digest dedup: each line once, in little memory.
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
  std::optional<std::uint64_t> window;  // at most one of these; none: it grows
  double rate = 0.001;                  // of new lines that may be taken for seen ones
  bool json = false;
  bool quiet = false;
};

// Passes on each line not seen before, in order; what that means: seen.hpp. A line that was passed
// on and is remembered is never passed on again; a new one is lost at most as often as `rate` says.
// Says on `err` what it cost, with a window also before it begins, unless it is to be quiet. SIGINT
// and SIGTERM end it as the end of its input does, but for the exit code: 130 or 143.
Result<int> dedup(const DedupOptions& options, const Streams& streams);

}  // namespace proxy::command
