// A peer's answer to a poll: status, three fields and a body, one to a line.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "peers/reply.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::array<std::string, 4> lines;
  std::size_t at = 0;
  for (std::string& line : lines) {
    line = text.substr(at, text.find('\n', at) - at);
    at = std::min(size, at + line.size() + 1);
  }
  peers::Reply reply;
  reply.status = lines[0] == "304" ? 304 : lines[0] == "404" ? 404 : 200;
  reply.server = lines[1];
  reply.via = lines[2];
  reply.etag = lines[3];
  reply.body.assign(data + at, data + size);
  peers::PollReport report;
  peers::Question question;
  question.conditional = true;
  question.room = 1 << 16;
  for (const auto form : {peers::DigestForm::squid, peers::DigestForm::native}) {
    question.form = form;
    question.form_is_a_guess = form == peers::DigestForm::native;
    question.held = report.claims.native;
    enter(report, judge(question, reply), {});
  }
  return 0;
}
