// Whose requests for the proxy's own pages, and to purge, reach the line that allows them.
#pragma once

#include <string>
#include <vector>

#include "proxy/command/squid/access.hpp"
#include "proxy/command/squid/required.hpp"

namespace proxy::command::squid {

// The clients whose requests with this method no rule above refuses, and that each guard lets
// through: a request has to meet one of the alternatives of each. Own pages have hosts and ports of
// their own, so rules about other hosts and ports do not refuse them. A client of whom only
// some requests would be refused is left out. Pure.
config::Networks clients_let_on(const std::vector<Rule>& rules,
                                const std::vector<Alternatives>& guards, const std::string& method);

// The clients that are not among `some`. Nobody if that takes too many networks. Pure.
config::Networks without(const config::Networks& clients, const config::Networks& some);

}  // namespace proxy::command::squid
