// Forwarded (RFC 7239) and X-Forwarded-For, which name the client of a request.
#pragma once

#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy::http {

inline constexpr std::string_view kXForwardedFor = "X-Forwarded-For";

bool is_forwarded_field(const Field& line);
// All fields except these two.
Fields without_forwarded(const Fields& fields);

// The values of both fields with a client appended. `address` is an IP address in text, IPv6
// without brackets.
struct ForwardedValues {
  std::string forwarded;        // for=192.0.2.1, for="[2001:db8::1]"
  std::string x_forwarded_for;  // 192.0.2.1, 2001:db8::1
};
ForwardedValues forwarded_for(const Fields& earlier, std::string_view address);

}  // namespace proxy::http
