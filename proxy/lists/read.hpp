// List files into lists. What a line may be stands in entry.hpp.
#pragma once

#include <boost/system/result.hpp>
#include <functional>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "config/settings.hpp"
#include "proxy/lists/access_lists.hpp"

namespace proxy::lists {

// What was passed over in a file: lists from the net hold a few lines that are nothing.
struct Skipped {
  std::string path;
  std::uint64_t lines = 0;
  std::uint64_t first = 0;  // the number of the first one, from 1
  std::string text;         // it, printable and cut
};

// Reads all files that the settings name; blocks, some seconds for millions of lines. A file that
// cannot be read to its end is an error, as is one that is no regular file or holds more than a
// list has room for; all such are told at once.
boost::system::result<AccessLists, config::SettingsErrors> read_lists(
    const config::AccessSettings& access, const std::function<void(const Skipped&)>& tell);

}  // namespace proxy::lists
