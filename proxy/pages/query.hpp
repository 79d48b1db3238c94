// Parameters in the URL of one of our own pages. Pure.
#pragma once

#include <boost/system/result.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace proxy {

// What is wrong with a query: text for a person.
struct QueryFault {
  std::string text;
};

// Returns the value of the parameter `name` with its %XX decoded, or nothing if the URL has no
// query. An empty `name` means that the page has no parameter. Another parameter, a second
// parameter and a `%` without two digits are faults. In a URL as the value, `&` and `%` must be
// encoded.
boost::system::result<std::optional<std::string>, QueryFault> only_parameter(std::string_view path,
                                                                             std::string_view name);

}  // namespace proxy
