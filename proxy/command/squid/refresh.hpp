// Rules for sites, from the lines about freshness and storing.
#pragma once

#include <vector>

#include "proxy/command/squid/acl.hpp"
#include "proxy/command/squid/json.hpp"

namespace proxy::command::squid {

// Reads `refresh_pattern`, `cache deny` (`no_cache deny`) and `negative_ttl`. Pure.
void read_refresh(const std::vector<Line>& lines, const Acls& acls, Imported& into,
                  Findings& findings);

}  // namespace proxy::command::squid
