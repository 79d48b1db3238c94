// Request fields in a form in which equal means "selects the same response" (RFC 9111 4.1).
#pragma once

#include <boost/container/small_vector.hpp>

#include "proxy/http/fields.hpp"

namespace proxy::http {

using NormalForm = boost::container::small_vector<char, 256>;

// Appends all lines of one field as one value; false if there is none. By id, or by name where the
// id is `unknown`. Left out of account is what means nothing in any list (white space around
// members, how members are spread over lines), and in Accept, Accept-Charset, Accept-Encoding and
// Accept-Language empty members, the order of members and how a weight is written, and, but in
// Accept, case. Fields that are no lists (Cookie, Authorization, User-Agent, ...) stay as they are.
// Allocates only for values that are long or have many members.
bool append_normal_form(NormalForm& out, const Fields& request, field id, std::string_view name);

}  // namespace proxy::http
