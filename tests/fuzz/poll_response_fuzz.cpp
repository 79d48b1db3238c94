// A peer's response to a poll: status, three fields and a body, one per line.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "peers/poll.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::array<std::string, 4> lines;
  std::size_t at = 0;
  for (std::string& line : lines) {
    line = text.substr(at, text.find('\n', at) - at);
    at = std::min(size, at + line.size() + 1);
  }
  peers::PollResponse response;
  response.status = lines[0] == "304" ? 304 : lines[0] == "404" ? 404 : 200;
  response.server = lines[1];
  response.via = lines[2];
  response.etag = lines[3];
  response.body.assign(data + at, data + size);
  peers::PollReport report;
  peers::PollRequest request;
  request.conditional = true;
  request.room = 1 << 16;
  for (const auto form : {peers::DigestForm::squid, peers::DigestForm::native}) {
    request.form = form;
    request.form_is_a_guess = form == peers::DigestForm::native;
    request.base = report.claims.native;
    enter(report, read_poll(request, response), {});
  }
  return 0;
}
