// Purging: drops stored responses on the operator's order.
#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <string_view>
#include <variant>

#include "proxy/cache/purge_pattern.hpp"
#include "proxy/http/target.hpp"
#include "proxy/pages/own_pages.hpp"

namespace proxy::pages {

// PURGE of a URL: drops all stored responses of the URL, and ends the digest's claim. A response of
// the URL that is being fetched is not stored, and no neighbour is asked for the URL for a minute.
// The answer is 200 with the number of responses dropped, 404 if there were none, or 403 to clients
// outside access.admin; the request is never forwarded. A target in origin-form means the same URL
// as in a GET: on a mapped host, PURGE drops the responses of reverse mode.
net::Task<void> serve_purge(const PagesAccess& pages, client::Client& client,
                            const policy::Request& request);

// The order that the body of POST /admin/purge states: one URL, or many.
using PurgeOrder = std::variant<http::Target, cache::PurgePattern>;

// Reads an object with one of "url", "prefix" (the beginning of URLs, with a whole host) and "host"
// (as in the settings: "*.example.com" or "*", with or without a port). Makes host names canonical,
// as in requests. The error has a line for each fault: what is wrong, and where. Pure; safe on any
// bytes.
boost::system::result<PurgeOrder, std::string> parse_purge_order(std::string_view json);

}  // namespace proxy::pages
