#include "tests/bench/faults/answers.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "tests/bench/faults/open_loop.hpp"
#include "tests/support/client.hpp"

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr const char* kTag = "\"v1\"";

support::Fields fields_of(std::size_t body, Validator validator = Validator::strong) {
  support::Fields fields{{"Cache-Control", "max-age=86400"},
                         {"Date", support::http_date()},
                         {"Content-Length", std::to_string(body)},
                         {"X-Cache", kSignature}};
  if (validator == Validator::strong) fields.emplace_back("ETag", kTag);
  return fields;
}

std::string answer_of(const std::string& path, const support::Fields& more = {}) {
  const std::string body = body_of(path);
  auto fields = fields_of(body.size());
  fields.insert(fields.end(), more.begin(), more.end());
  return support::head_text("HTTP/1.1 200 OK", fields) + body;
}

// The head and the first bytes of the body.
std::string beginning_of(const std::string& path, std::size_t bytes,
                         Validator validator = Validator::strong) {
  const std::string body = body_of(path);
  const auto head = support::head_text("HTTP/1.1 200 OK", fields_of(body.size(), validator));
  return head + body.substr(0, bytes);
}

// The head and so many percent of the body.
std::string part_of(const std::string& path, std::size_t percent,
                    Validator validator = Validator::strong) {
  return beginning_of(path, body_of(path).size() * percent / 100, validator);
}

// The first and the last byte of "bytes=1-2" or "bytes=1-".
struct Part {
  std::size_t first = 0;
  std::size_t last = 0;
};
std::optional<Part> part_asked(const support::Request& request, std::size_t size) {
  const std::string range = request.field("Range");
  Part part{0, size - 1};
  const int found = std::sscanf(range.c_str(), "bytes=%zu-%zu", &part.first, &part.last);
  if (found < 1 || part.first >= size || part.last < part.first) return std::nullopt;
  if (request.has("If-Range") && request.field("If-Range") != kTag) return std::nullopt;
  part.last = std::min(part.last, size - 1);
  return part;
}

std::string whole_or_part(const support::Request& request, Validator validator) {
  const std::string body = body_of(request.path);
  const auto part = part_asked(request, body.size());
  if (!part || validator == Validator::none) {
    return beginning_of(request.path, body.size(), validator);
  }
  const auto length = part->last - part->first + 1;
  auto fields = fields_of(length);
  fields.emplace_back("Content-Range", "bytes " + std::to_string(part->first) + "-" +
                                           std::to_string(part->last) + "/" +
                                           std::to_string(body.size()));
  return support::head_text("HTTP/1.1 206 Partial Content", fields) +
         body.substr(part->first, length);
}

bool is_silent(const Call& call) {
  while (pause(call, 1s)) {
  }
  return false;
}

}  // namespace

Answer well_after(std::chrono::milliseconds time, const support::Fields& more) {
  return [time, more](const Call& call) {
    if (time > 0ms && !pause(call, time)) return false;
    return call.socket.write(answer_of(call.request.path, more));
  };
}

Answer in_parts_after(std::chrono::milliseconds time, Validator validator) {
  return [time, validator](const Call& call) {
    if (time > 0ms && !pause(call, time)) return false;
    return call.socket.write(whole_or_part(call.request, validator));
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

Answer one_silent_in(std::uint64_t many) {
  return [many](const Call& call) {
    if (call.number % many == many - 1) return is_silent(call);
    return call.socket.write(answer_of(call.request.path));
  };
}

Answer stall_at(std::size_t percent, Validator validator) {
  return [percent, validator](const Call& call) {
    return call.socket.write(part_of(call.request.path, percent, validator)) && is_silent(call);
  };
}

Answer stall_after(std::size_t bytes) {
  return [bytes](const Call& call) {
    return call.socket.write(beginning_of(call.request.path, bytes)) && is_silent(call);
  };
}

Answer reset_after(std::size_t bytes) {
  return [bytes](const Call& call) {
    // A reset may outrun what was sent, unless the other side has read it.
    if (call.socket.write(beginning_of(call.request.path, bytes)) && pause(call, 20ms)) {
      call.socket.reset();
    }
    return false;
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
    return call.socket.write(support::head_text(
        "HTTP/1.1 500 Broken", {{"Content-Length", "0"}, {"X-Cache", kSignature}}));
  };
}

Answer denial_after(std::chrono::milliseconds time) {
  return [time](const Call& call) {
    return pause(call, time) &&
           call.socket.write(support::head_text(
               "HTTP/1.1 504 Gateway Timeout", {{"Content-Length", "0"}, {"X-Cache", kSignature}}));
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

Answer for_one(const std::string& name, const Answer& its, const Answer& others) {
  return [=](const Call& call) {
    return support::contains(call.request.field("Via"), name) ? its(call) : others(call);
  };
}

Answer forwarded_to(const std::atomic<std::uint16_t>& proxy) {
  return [&proxy](const Call& call) {
    support::Client client(proxy);
    auto answer = client.get(call.request.target);
    answer.fields.emplace_back("X-Cache", kSignature);
    return call.socket.write(support::head_text(answer.start_line, answer.fields) + answer.body);
  };
}

Answer ageing(std::chrono::milliseconds time, std::chrono::seconds max_age, bool validators) {
  return [time, max_age, validators](const Call& call) {
    if (!pause(call, time)) return false;
    support::Fields fields{{"Cache-Control", "max-age=" + std::to_string(max_age.count())},
                           {"Date", support::http_date()},
                           {"X-Cache", kSignature}};
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
