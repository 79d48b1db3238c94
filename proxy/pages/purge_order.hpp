// What POST /admin/purge asks for. Pure.
#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <string_view>
#include <variant>

#include "proxy/http/target.hpp"
#include "proxy/request/purge_pattern.hpp"

namespace proxy {

using PurgeOrder = std::variant<http::Target, PurgePattern>;  // one URL, or many

// Reads an object with one of "url", "prefix" (of URLs; its host is whole) and "host" (as in the
// settings: "*.example.com", "*", perhaps with a port). Host names become canonical, as those of
// requests do. Returns for each fault a line for a person: what is wrong and where. Safe on any
// bytes.
boost::system::result<PurgeOrder, std::string> parse_purge_order(std::string_view json);

}  // namespace proxy
