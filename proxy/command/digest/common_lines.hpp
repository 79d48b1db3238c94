// hearsay digest common: prints the lines that all files contain.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/command/streams.hpp"

namespace proxy::command {

inline constexpr std::size_t kLeastCommonMemory = std::size_t{1} << 20;

struct CommonOptions {
  std::vector<std::string> files;  // two or more, each an ordinary file
  bool exact = false;
  double rate = 0.001;                          // with `exact`, not used
  std::size_t memory = std::size_t{512} << 20;  // bytes: half for filters, half for lines
  bool json = false;
  bool quiet = false;
};

// Prints each line that all files contain, once, in the order of the first file. Lines are equal if
// their bytes are, apart from LF or CRLF. No common line is ever missing. Without `exact`, at most
// the share `rate` of the first file's other lines is printed too.
//
// The lines of the first file that a filter of the other files claims (candidate_filter.hpp) are
// kept in memory, in parts as large as `memory` allows. With `exact`, each part reads the other
// files again and keeps the lines that are in each. A line may recur in a later part: so each part
// but the first reads the first file again, up to where the part begins, and excludes the lines it
// finds there. Thus memory stays bounded for any files; the more lines they have in common, the
// more often they are read. Reports the cost on `err`, unless `quiet`.
Result<int> common_lines(const CommonOptions& options, const Streams& streams);

}  // namespace proxy::command
