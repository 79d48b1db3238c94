#include "tests/bench/faults/answers.hpp"

#include "tests/bench/faults/open_loop.hpp"
#include "tests/support/client.hpp"

namespace bench {
namespace {

using namespace std::chrono_literals;

std::string answer_of(const std::string& path) {
  const std::string body = body_of(path);
  const support::Fields fields{{"Cache-Control", "max-age=86400"},
                               {"ETag", "\"v1\""},
                               {"Date", support::http_date()},
                               {"Content-Length", std::to_string(body.size())}};
  return support::head_text("HTTP/1.1 200 OK", fields) + body;
}

bool is_silent(const Call& call) {
  while (pause(call, 1s)) {
  }
  return false;
}

}  // namespace

Answer well_after(std::chrono::milliseconds time) {
  return [time](const Call& call) {
    if (time > 0ms && !pause(call, time)) return false;
    return call.socket.write(answer_of(call.request.path));
  };
}

Answer silence() {
  return is_silent;
}

Answer drip() {
  return [](const Call& call) {
    for (const char byte : answer_of(call.request.path)) {
      if (!call.socket.write({&byte, 1}) || !pause(call, 1s)) return false;
    }
    return true;
  };
}

Answer one_in_ten_silent() {
  return [](const Call& call) {
    if (call.number % 10 == 9) return is_silent(call);
    return call.socket.write(answer_of(call.request.path));
  };
}

Answer forwarded_to(const std::atomic<std::uint16_t>& proxy) {
  return [&proxy](const Call& call) {
    support::Client client(proxy);
    const auto answer = client.get(call.request.target);
    return call.socket.write(support::head_text(answer.start_line, answer.fields) + answer.body);
  };
}

}  // namespace bench
