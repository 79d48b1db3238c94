// The order that the body of POST /admin/purge states. Pure.
#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <string_view>
#include <variant>

#include "proxy/cache/purge_pattern.hpp"
#include "proxy/http/target.hpp"

namespace proxy {

using PurgeOrder = std::variant<http::Target, PurgePattern>;  // one URL, or many

// Reads an object with one of "url", "prefix" (the beginning of URLs, with a whole host) and "host"
// (as in the settings: "*.example.com" or "*", with or without a port). Makes host names canonical,
// as in requests. The error has a line for each fault: what is wrong, and where. Safe on any bytes.
boost::system::result<PurgeOrder, std::string> parse_purge_order(std::string_view json);

}  // namespace proxy
