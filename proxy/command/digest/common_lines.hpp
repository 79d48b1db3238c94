// hearsay digest common: the lines that all files hold.
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
  double rate = 0.001;                          // not for --exact
  std::size_t memory = std::size_t{512} << 20;  // for filters and lines; half for each
  bool json = false;
  bool quiet = false;
};

// Prints each line that all files hold, once, where it first stands in the first file. Lines are
// equal if their bytes are, ends apart. None is ever missing. Without `exact` a line of the first
// file that some other lacks may be printed too, at most as often as `rate` says; with it none is.
//
// What a filter of the other files claims (narrow.hpp) is held in memory, as far as it fits: a
// part. With `exact` the other files are read again and those lines stay that are in each. In the
// second and later parts the first file is read again up to where the part begins, and what stands
// there already is dropped, as it was printed. So the memory is kept whatever the files; the more
// they have in common, the more often they are read.
// Says on `err` what it cost, unless it is to be quiet.
Result<int> common(const CommonOptions& options, const Streams& streams);

}  // namespace proxy::command
