// Fields that hold what only one client may know.
#pragma once

#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy::http {

// Whether a field of this name may hold a secret. Beside the registered names there are X-Api-Key,
// Private-Token, X-Auth-Token, X-Csrf-Token and so on. Pure.
bool may_be_secret(std::string_view name);

// Whether the fields of a request may show who the client is to an origin. Pure.
bool shows_secret(const Fields& fields);

// Whether the query of a URL has a signature, with which anybody may have the response. Pure.
bool has_signed_query(std::string_view url);

}  // namespace proxy::http
