// What `hearsay check` says of settings that can be read.
#pragma once

#include <iosfwd>

#include "proxy/check/try_out.hpp"

namespace proxy {

// Writes the notes to `out`, errors and warnings to `err`, and at last whether the settings are
// good. An error means that they are not; `strict`: a warning, too. Returns whether they are.
bool report(const Trial& trial, bool strict, std::ostream& out, std::ostream& err);

}  // namespace proxy
