// Where the body of a request is stored if not under its own URL.
#pragma once

#include <string>

#include "proxy/blocks/fetch_access.hpp"

namespace proxy::policy {
struct Request;
}

namespace proxy::explain {

// Writes the URL under which the body is stored that has the digest in the request's URL
// (blocks/content_record.hpp), if there is one. Counts nothing, and moves nothing between memory
// and disk. The disk may be waited for. `into` outlives the task.
net::Task<void> find_url_of_body(blocks::FetchAccess& access, const policy::Request& request,
                                 std::string& into);

}  // namespace proxy::explain
