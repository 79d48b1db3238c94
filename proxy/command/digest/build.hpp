// hearsay digest build: a filter of the URLs in files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/command/digest/url_key.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {

struct BuildOptions {
  std::vector<std::string> inputs;  // none: standard input
  std::string out;
  std::optional<double> rate;            // at most one of these two
  std::optional<double> bits_per_entry;  // neither: digest::kDefaultBitsPerEntry
  std::optional<std::uint32_t> hashes;   // none: the best number
  std::optional<std::uint64_t> capacity;
  Spelling spelling = Spelling::url;
  bool force = false;
  bool json = false;
};

// A URL per line; empty lines are passed over. Without a capacity the filter is made for as many as
// there are lines: files are counted first, the keys of what cannot be read twice are kept in
// memory. More distinct URLs than the capacity are an error. Says on `out` what it made.
Result<int> build(const BuildOptions& options, const Streams& streams);

}  // namespace proxy::command
