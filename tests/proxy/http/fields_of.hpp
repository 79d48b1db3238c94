// Fields for a test, written as on the wire.
#pragma once

#include <initializer_list>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy::http {

// "Name: value" each; the literals outlive the fields.
inline Fields fields_of(std::initializer_list<std::string_view> lines) {
  Fields fields;
  for (const std::string_view line : lines) {
    const std::size_t colon = line.find(": ");
    fields.append(line.substr(0, colon), line.substr(colon + 2));
  }
  return fields;
}

}  // namespace proxy::http
