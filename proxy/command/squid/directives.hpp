// What an import makes of each directive of Squid.
#pragma once

#include <optional>
#include <string_view>

#include "proxy/command/squid/values.hpp"

namespace proxy::command::squid {

// Whether a part of the import reads the directive, and tells itself what it leaves out.
bool is_read(std::string_view directive);

// Returns the advice on a line whose directive no part reads. Nothing if Squid 5 has no such
// directive.
std::optional<Advice> advice_on(const Line& line);

}  // namespace proxy::command::squid
