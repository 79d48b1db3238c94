// A filter that claims the lines that may be common to several files.
#pragma once

#include <cstdint>
#include <vector>

#include "digest/bloom_filter.hpp"
#include "digest/siphash.hpp"
#include "proxy/command/lines.hpp"

namespace proxy::command {

// What to do if `memory` is too little for a filter of the wanted error rate.
enum class OnShortage : std::uint8_t { fail, exceed_rate };

struct CandidateFilterOptions {
  digest::Salt salt;   // for the keys of the lines
  double rate;         // the share of lines not common to all files that the filter may claim
  std::size_t memory;  // in bytes, for two filters at once
  OnShortage shortage;
};

// Makes a filter that claims every line that all inputs contain. Starts with the smallest input;
// each further input yields a filter of those of its lines that the previous filter claims. So no
// filter is larger than the smallest input requires. The caller looks up the lines of the first
// input: that input takes part only if it is the smallest. Reads each input once to count and once
// to filter; all must be rereadable.
Result<digest::BloomFilter> candidate_filter(std::vector<InputFile>& inputs,
                                             const CandidateFilterOptions& options,
                                             Progress& progress);

}  // namespace proxy::command
