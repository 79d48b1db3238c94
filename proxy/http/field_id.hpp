// Which registered field a name is. The ids are Beast's.
#pragma once

#include <boost/beast/http/field.hpp>
#include <string_view>

namespace proxy::http {

// `unknown` for a name that is not registered. `name` is a token, in any case. As Beast's
// string_to_field(), for a third of its instructions.
boost::beast::http::field field_id(std::string_view name);

}  // namespace proxy::http
