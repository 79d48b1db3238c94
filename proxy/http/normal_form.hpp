// A normal form of request fields: equal forms select the same response (RFC 9111 4.1).
#pragma once

#include <boost/container/small_vector.hpp>

#include "proxy/http/fields.hpp"

namespace proxy::http {

using NormalForm = boost::container::small_vector<char, 256>;

// Appends all lines of one field as one value; returns false if there are none. Finds the field by
// id, or by name if the id is `unknown`. The form ignores white space around the members of a list,
// and their distribution over lines. In Accept, Accept-Charset, Accept-Encoding and Accept-Language
// it also ignores empty members, the order of members and the notation of weights, and, except in
// Accept, case. Fields that are not lists (Cookie, Authorization, User-Agent, ...) are unchanged.
// Allocates only for long values or many members.
bool append_normal_form(NormalForm& out, const Fields& request, field id, std::string_view name);

}  // namespace proxy::http
