#include "tests/bench/faults/answers.hpp"

#include "tests/bench/faults/open_loop.hpp"
#include "tests/support/client.hpp"

namespace bench {
namespace {

using namespace std::chrono_literals;

std::string head_of(std::size_t body) {
  const support::Fields fields{{"Cache-Control", "max-age=86400"},
                               {"ETag", "\"v1\""},
                               {"Date", support::http_date()},
                               {"Content-Length", std::to_string(body)}};
  return support::head_text("HTTP/1.1 200 OK", fields);
}

std::string answer_of(const std::string& path) {
  const std::string body = body_of(path);
  return head_of(body.size()) + body;
}

// The head and so many percent of the body.
std::string part_of(const std::string& path, std::size_t percent) {
  const std::string body = body_of(path);
  return head_of(body.size()) + body.substr(0, body.size() * percent / 100);
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

Answer stall_at(std::size_t percent) {
  return [percent](const Call& call) {
    return call.socket.write(part_of(call.request.path, percent)) && is_silent(call);
  };
}

Answer reset_in_body() {
  return [](const Call& call) {
    // A reset may outrun what was sent, unless the other side has read it.
    if (call.socket.write(part_of(call.request.path, 50)) && pause(call, 20ms)) {
      call.socket.reset();
    }
    return false;
  };
}

Answer too_short() {
  return [](const Call& call) {
    call.socket.write(part_of(call.request.path, 50));
    return false;
  };
}

Answer too_long() {
  return [](const Call& call) {
    return call.socket.write(answer_of(call.request.path) + "bytes that belong to nothing");
  };
}

Answer error_at_once() {
  return [](const Call& call) {
    return call.socket.write("HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n");
  };
}

Answer denial_after(std::chrono::milliseconds time) {
  return [time](const Call& call) {
    return pause(call, time) &&
           call.socket.write("HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 0\r\n\r\n");
  };
}

Answer hang_up() {
  return [](const Call&) { return false; };
}

Answer processing() {
  return [](const Call& call) {
    return call.socket.write("HTTP/1.1 102 Processing\r\n\r\n") && is_silent(call);
  };
}

Answer in_turns(std::chrono::milliseconds time) {
  return [time, begun = std::chrono::steady_clock::now()](const Call& call) {
    const auto turns = (std::chrono::steady_clock::now() - begun) / time;
    return turns % 2 == 1 ? is_silent(call) : call.socket.write(answer_of(call.request.path));
  };
}

Answer forwarded_to(const std::atomic<std::uint16_t>& proxy) {
  return [&proxy](const Call& call) {
    support::Client client(proxy);
    const auto answer = client.get(call.request.target);
    return call.socket.write(support::head_text(answer.start_line, answer.fields) + answer.body);
  };
}

Answer ageing(std::chrono::milliseconds time, std::chrono::seconds max_age, bool validators) {
  return [time, max_age, validators](const Call& call) {
    if (!pause(call, time)) return false;
    support::Fields fields{{"Cache-Control", "max-age=" + std::to_string(max_age.count())},
                           {"Date", support::http_date()}};
    if (validators) fields.emplace_back("ETag", "\"v1\"");
    if (validators && call.request.field("If-None-Match") == "\"v1\"") {
      return call.socket.write(support::head_text("HTTP/1.1 304 Not Modified", fields));
    }
    const std::string body = body_of(call.request.path);
    fields.emplace_back("Content-Length", std::to_string(body.size()));
    return call.socket.write(support::head_text("HTTP/1.1 200 OK", fields) + body);
  };
}

}  // namespace bench
