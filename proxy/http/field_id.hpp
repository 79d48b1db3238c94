// Which registered field a name is. The ids are Beast's.
#pragma once

#include <boost/beast/http/field.hpp>
#include <string_view>

namespace proxy::http {

// `unknown` for a text that is not a registered name, in any case. A text with another result is
// therefore a token. Of a token, the result is that of Beast's string_to_field(), for a third of
// the instructions.
boost::beast::http::field field_id(std::string_view name);

}  // namespace proxy::http
