// Values of the environment within the settings.
#pragma once

#include "config/document.hpp"

namespace config {

// Replaces "${NAME}" in each text of the document by the variable of this name, and "$${" by "${".
// A text that was completed so may stand for a number, true or false (Value::from_environment). A
// variable that is not set is a fault. The values that are inserted take at most kLongestSettings.
// Returns whether all texts are complete.
bool insert_environment(Value& document, Faults& faults);

}  // namespace config
