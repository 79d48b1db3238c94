// Messages that are malformed, ambiguous or on the edge of it, and what becomes of each.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace support {

// Stands in the texts for the origin's authority, as one byte: mutations keep or lose it whole.
inline constexpr char kOrigin = '\x01';
std::string with_origin(std::string_view text, std::string_view authority);

struct HostileRequest {
  const char* name;
  std::string text;
  // The status of the refusal. 200: it is fine, and forwarded as one normal request. 0: its body is
  // damaged, so that some of it may have reached the origin before, but never the whole; the client
  // gets a refusal or nothing.
  int status = 400;
};
// Start lines, targets, Host and other fields; lengths, codings and chunks.
std::vector<HostileRequest> hostile_heads();
std::vector<HostileRequest> hostile_bodies();

// To GET, with a freshness of a minute. The connection closes after it.
struct HostileAnswer {
  const char* name;
  std::string text;
  // What the client gets: 502; 0: that, or something that shows that it is not whole; any other:
  // this status and the body "abc" (none with 204).
  int status = 502;
};
std::vector<HostileAnswer> hostile_answers();

void PrintTo(const HostileRequest& message, std::ostream* out);
void PrintTo(const HostileAnswer& message, std::ostream* out);

}  // namespace support
