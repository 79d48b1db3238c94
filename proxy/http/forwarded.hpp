// Fields in which proxies tell a server about the request as it was before they changed it:
// Forwarded (RFC 7239), X-Forwarded-For, and a family of fields that no standard defines. Any
// client can write them, so whoever answers by them must know who wrote them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy::http {

inline constexpr std::string_view kXForwardedFor = "X-Forwarded-For";

// The fact about the client that a field of the family tells.
enum class Tells : std::uint8_t {
  nothing,  // the field is not of the family
  client,   // the client's address: X-Forwarded-For, X-Real-IP, ...
  request,  // host, scheme, port, path or method: X-Forwarded-Host, X-Original-URL, ... A server
            // may answer by it and not name it in Vary.
};
// Every byte of the name that is no letter and no digit counts as a hyphen: servers that make
// variables of field names (CGI) read X-Forwarded-Host, X_Forwarded_Host and X.Forwarded.Host as
// one. Forwarded tells of the client if it has no parameter but `for` and `by`.
Tells classify_forwarded(const Field& line);

inline bool is_forwarded_field(const Field& line) {
  if (line.id != field::unknown && line.id != field::forwarded) return false;  // nearly always
  return classify_forwarded(line) != Tells::nothing;
}
// Whether the field is X-Forwarded-For, its name compared as in classify_forwarded().
bool is_x_forwarded_for(const Field& line);
// Returns the fields without those of the family. Returns nothing if there is none of the family.
std::optional<Fields> without_forwarded(const Fields& fields);

// Which of a client's fields a server may see. Names are compared as in classify_forwarded().
struct Heeded {
  bool family = true;  // false: removed, and so are the fields in `drop`
  std::span<const std::string> drop = {};
  std::span<const std::string> pass = {};  // never removed
};
// The fields that remain. Those that tell about the request, and those in `pass`, are marked
// (Field::selects), so that what a client wrote there selects responses for nobody else. Nothing if
// no field is removed or marked.
std::optional<Fields> visible_fields(const Fields& fields, const Heeded& heeded);

// The values of Forwarded and X-Forwarded-For with a client appended. `address` is an IP address in
// text, IPv6 without brackets.
struct ForwardedValues {
  std::string forwarded;        // for=192.0.2.1, for="[2001:db8::1]"
  std::string x_forwarded_for;  // 192.0.2.1, 2001:db8::1
};
ForwardedValues forwarded_for(const Fields& earlier, std::string_view address);

}  // namespace proxy::http
