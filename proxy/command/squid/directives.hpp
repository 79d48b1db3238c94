// What an import makes of each directive of Squid.
#pragma once

#include <string_view>

#include "proxy/command/squid/lines.hpp"

namespace proxy::command::squid {

struct Advice {
  Finding::Kind kind;
  std::string_view what;
};

// Whether a list of items, separated by '|', has this one; "icap_*" is whatever begins so.
bool lists(std::string_view list, std::string_view item);

// Whether a part of the import reads the directive, and tells itself what it leaves out.
bool is_read(std::string_view directive);

// The advice on a line whose directive no part reads. Pure.
Advice advice_on(const Line& line);

}  // namespace proxy::command::squid
