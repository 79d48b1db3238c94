// A settings file as it is written: ordered, with comments.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace proxy::command::squid {

using Json = nlohmann::ordered_json;

// Adds a comment, which stands in lines of its own above the member `key` of the object; without a
// key, above the object itself. A comment is kept as a member whose name begins with "//".
void add_comment(Json& object, const std::string& text, const std::string& key = "");

// Without comments. Here and in written(), bytes that are not ASCII become "?".
std::string in_one_line(const Json& json);
// The text, with a line feed at its end.
std::string written(const Json& json);

// The member at a path such as "timeouts.head", which is added if it is missing. The reference is
// valid until a member is added.
Json& member_at(Json& settings, std::string_view path);

// What the settings' own reader says against this value of the member at `path`; empty: nothing.
// Pure.
std::string fault_of(const std::string& path, const Json& value);

}  // namespace proxy::command::squid
