// What a request method promises (RFC 9110 9.2, and the registry it made).
#pragma once

#include <string_view>

namespace proxy::http {

// Asks for no change at the origin. A method that is not known is taken for one that does.
bool is_safe(std::string_view method);
// May be sent twice, to the same end as once. Likewise.
bool is_idempotent(std::string_view method);

}  // namespace proxy::http
