// Responses that set a cookie: they are for one client, so they never cross between neighbours.
// Pure.
#pragma once

#include "proxy/http/fields.hpp"

namespace proxy::cache {

// Whether the message has a Set-Cookie field.
bool sets_cookie(const http::Fields& response);

}  // namespace proxy::cache
