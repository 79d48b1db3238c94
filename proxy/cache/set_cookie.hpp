// Responses that set a cookie: they are for one client, so they never cross between neighbours.
// Pure.
#pragma once

#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy::cache {

// Whether the message has a Set-Cookie field.
bool sets_cookie(const http::Fields& response);
// Whether a stored head (Entry::head) has one. A head lacks the fields that `private` or `no-cache`
// names.
bool sets_cookie(std::string_view head);

}  // namespace proxy::cache
