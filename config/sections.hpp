// Turns a document into Settings: the keys of each section, their ranges, and words that are
// reserved.
#pragma once

#include "config/document.hpp"
#include "config/settings.hpp"

namespace config {

// Appends faults to `faults`. The settings are only usable if there are none.
Settings read_settings(const Value& document, Faults& faults);

}  // namespace config
