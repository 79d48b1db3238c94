// Parameters in the URL of one of our own pages. Pure.
#pragma once

#include <boost/system/result.hpp>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace proxy::pages {

// A fault of a query, as a text for a person.
struct QueryFault {
  std::string text;
};

// Returns the value of the parameter `name` with its %XX decoded, or nothing if the URL has no
// query. An empty `name` means that the page has no parameter. Another parameter, a second
// parameter and a `%` without two digits are faults. In a URL as the value, `&` and `%` must be
// encoded.
boost::system::result<std::optional<std::string>, QueryFault> only_parameter(std::string_view path,
                                                                             std::string_view name);

// Returns the values of the parameters, by name, with their %XX decoded. A name that is not in
// `known`, a parameter that occurs twice or has no value, and a `%` without two digits are faults.
boost::system::result<std::map<std::string, std::string, std::less<>>, QueryFault> parameters(
    std::string_view path, std::span<const std::string_view> known);

}  // namespace proxy::pages
