// From a document to Settings: each section's keys, their ranges and what they may not say yet.
#pragma once

#include "config/document.hpp"
#include "config/settings.hpp"

namespace config {

// What is wrong is added to `faults`; settings are of use only if nothing was.
Settings read_settings(const Value& document, Faults& faults);

}  // namespace config
