// Directives that have one setting as their equal: ports, sizes, times, logs, users, bandwidth.
#pragma once

#include <vector>

#include "config/endpoint.hpp"
#include "proxy/command/squid/acl.hpp"
#include "proxy/command/squid/settings.hpp"

namespace proxy::command::squid {

// Reads `http_port`. Returns where we will listen. Pure.
std::vector<config::HostPort> read_ports(const std::vector<Line>& lines, Imported& into,
                                         Findings& findings);

// Reads `cache_mem`, `cache_dir` and the sizes of objects. Pure.
void read_storage(const std::vector<Line>& lines, Imported& into, Findings& findings);

// Reads names, logs, times, sizes of heads and what is told of clients. Pure.
void read_others(const std::vector<Line>& lines, Imported& into, Findings& findings);

// Reads `auth_param`. Returns whether an htpasswd file tells the users. Pure.
bool read_users(const std::vector<Line>& lines, Imported& into, Findings& findings);

// Reads the lines of `delay_pools`. Pure.
void read_bandwidth(const std::vector<Line>& lines, Imported& into, Findings& findings);

}  // namespace proxy::command::squid
