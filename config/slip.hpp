// Names the slip of the pen that keeps a text from being JSON.
#pragma once

#include <optional>
#include <string_view>

#include "config/document.hpp"

namespace config {

// The first slip in the text: where it is and how to mend it. Nothing if the text is JSON. Safe on
// any bytes; takes linear time, and memory in proportion to the open brackets. Pure.
std::optional<Fault> find_slip(std::string_view text);

}  // namespace config
