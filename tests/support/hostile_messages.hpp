// Messages that are malformed, ambiguous or almost so, and what the proxy does with each.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace support {

// In the texts, one byte stands for the origin's authority, so that a mutation keeps or removes all
// of it.
inline constexpr char kOrigin = '\x01';
std::string with_origin(std::string_view text, std::string_view authority);

struct HostileRequest {
  const char* name;
  std::string text;
  // The status of the refusal. 200: the request is good, and is forwarded in normal form. 0: the
  // body is damaged: the origin may receive a part of the request but never the whole, and the
  // client receives a refusal or nothing.
  int status = 400;
};
// Faults in start lines, targets, Host and other fields.
std::vector<HostileRequest> hostile_heads();
// Faults in lengths, codings and chunks.
std::vector<HostileRequest> hostile_bodies();

// A response to GET, fresh for a minute. The origin closes the connection after it.
struct HostileAnswer {
  const char* name;
  std::string text;
  // What the client receives. 502: that status. 0: a 502, or a response that is visibly cut. Any
  // other: this status with the body "abc" (204: without a body).
  int status = 502;
};
std::vector<HostileAnswer> hostile_answers();

void PrintTo(const HostileRequest& message, std::ostream* out);
void PrintTo(const HostileAnswer& message, std::ostream* out);

}  // namespace support
