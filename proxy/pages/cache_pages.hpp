// /admin/cache: admins list, show and verify the stored responses.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/client/request_body.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

// Each page sends the lines of inspect/live.hpp while they are made (send_slices.hpp).

// Lists all stored responses, or those whose URL begins with the parameter `prefix`.
net::Task<void> serve_cache_list(const PagesAccess& pages, Client& client, const Request& request,
                                 RequestBody& body);

// Sums all stored responses by host, or those whose URL contains the parameter `contains`.
net::Task<void> serve_cache_sums(const PagesAccess& pages, Client& client, const Request& request,
                                 RequestBody& body);

// Lists every record of the URL in the parameter `url`.
net::Task<void> serve_cache_show(const PagesAccess& pages, Client& client, const Request& request,
                                 RequestBody& body);

// Checks the disk. Only one verification runs at a time; a second request is answered 409.
net::Task<void> serve_cache_verify(const PagesAccess& pages, Client& client, const Request& request,
                                   RequestBody& body);

}  // namespace proxy
