// Reads list files. entry.hpp describes their lines.
#pragma once

#include <boost/system/result.hpp>
#include <functional>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "config/settings.hpp"
#include "proxy/lists/access_lists.hpp"

namespace proxy::lists {

// The lines of a file that were skipped: published lists contain a few lines that are no entries.
struct Skipped {
  std::string path;
  std::uint64_t lines = 0;
  std::uint64_t first = 0;  // the number of the first one, counted from 1
  std::string text;         // its text, printable and shortened
};

// Reads all files that the settings name. Blocks, for some seconds with millions of lines. Returns
// an error for each file that is not a regular file, cannot be read to its end, or has more entries
// than fit into a list.
boost::system::result<AccessLists, config::SettingsErrors> read_lists(
    const config::AccessSettings& access, const std::function<void(const Skipped&)>& tell);

}  // namespace proxy::lists
