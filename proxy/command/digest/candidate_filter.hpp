// A filter of the lines that may be common to files.
#pragma once

#include <cstdint>
#include <vector>

#include "digest/bloom_filter.hpp"
#include "digest/siphash.hpp"
#include "proxy/command/lines.hpp"

namespace proxy::command {

struct Narrowing {
  digest::Salt salt;   // of the lines' keys
  double rate;         // lines not common to all that the filter may claim
  std::size_t memory;  // in bytes, for the two filters that are held at once
  bool exceed_rate;    // where the memory does not do for the rate, rather than fail
};

// Claims every line that all inputs hold. The first input's lines are going to be asked for, so it
// need not take part: it does only if it is the smallest. From the smallest on, each input gives a
// filter of its lines that the filter before it claims, so that no filter is larger than the
// smallest input asks for. Reads each once to count and once to filter; all must be rereadable.
Result<digest::BloomFilter> narrow(std::vector<Input>& inputs, const Narrowing& how,
                                   Progress& progress);

}  // namespace proxy::command
