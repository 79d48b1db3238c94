// hearsay digest build: makes a filter of the URLs in files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/command/digest/save_filter.hpp"
#include "proxy/command/digest/url_key.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {

struct BuildOptions {
  std::vector<std::string> inputs;  // none: standard input
  SaveOptions save;
  std::optional<double> rate;            // at most one of rate and bits_per_entry
  std::optional<double> bits_per_entry;  // neither: digest::kDefaultBitsPerEntry
  std::optional<std::uint32_t> hashes;   // none: the best number
  std::optional<std::uint64_t> capacity;
  Spelling spelling = Spelling::url;
};

// Reads one URL per line and skips empty lines. Without a capacity, the filter is sized for the
// number of lines. Files are then read twice, first to count; if an input cannot be read twice, the
// keys are kept in memory. More distinct URLs than the capacity are trouble. Prints what it made.
Result<int> build(const BuildOptions& options, const Streams& streams);

}  // namespace proxy::command
