// The user and the password that a client sends: Basic authentication (RFC 7617).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace proxy::users {

// UTF-8, as the challenge asks for; the bytes are compared as they are.
struct Credentials {
  std::string name;
  std::string password;
};

// Reads the value of Proxy-Authorization. Nothing: another scheme, or not well-formed: base64 with
// padding, a name, a colon, no control characters, at most 1 KiB. Safe on any bytes.
std::optional<Credentials> parse_basic(std::string_view value);

// The challenge for Proxy-Authenticate. `realm` has no quotes, backslashes and controls.
std::string basic_challenge(std::string_view realm);

}  // namespace proxy::users
