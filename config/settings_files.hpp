// Reads a settings file, together with the files that it includes, as one document.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.hpp"

namespace config {

constexpr std::size_t kMostFiles = 64;    // all included files together, and the first one
constexpr std::size_t kDeepestFiles = 8;  // that include each other

// The text of a regular file, of which at most a byte more than kLongestSettings is read. Nothing,
// and `why`, if it cannot be read. Blocks.
std::optional<std::string> read_text(const std::string& path, std::string& why);

// The document in `text`, which was read from `path`, and in the files that the key "include" of
// its outermost object lists, completed from the environment. A path is relative to the folder of
// the file that names it. What a file says counts before what it includes, and a later file of the
// list before an earlier one: objects are merged key by key; of two lists of objects, such as
// `peers`, the items of the second follow those of the first; of all else the first value counts. A
// file that is named twice counts once; one that leads back to itself is a fault.
//
// `files` are the paths of what was read, as Position::file counts them. Returns nothing if there
// is a fault. Blocks.
std::optional<Value> read_files(const std::string& path, std::string_view text,
                                std::vector<std::string>& files, Faults& faults);

}  // namespace config
