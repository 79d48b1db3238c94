// Properties of request methods (RFC 9110 9.2 and its registry).
#pragma once

#include <string_view>

namespace proxy::http {

// Whether the method asks for no change at the origin. An unknown method counts as unsafe.
bool is_safe(std::string_view method);
// Whether a request sent twice has the effect of one. An unknown method counts as not idempotent.
bool is_idempotent(std::string_view method);

}  // namespace proxy::http
