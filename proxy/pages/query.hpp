// Parameters in the URL of one of our own pages. Pure.
#pragma once

#include <boost/system/result.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace proxy {

// What is wrong with a query, for a person.
struct QueryFault {
  std::string text;
};

// The value of the one parameter that the page knows, its %XX decoded; nothing where there is no
// query; the name is empty where the page knows none. Else there is a fault: another parameter,
// two, or a % with no digits. A URL with a `&` or a `%` of its own has to come encoded.
boost::system::result<std::optional<std::string>, QueryFault> only_parameter(std::string_view path,
                                                                             std::string_view name);

}  // namespace proxy
