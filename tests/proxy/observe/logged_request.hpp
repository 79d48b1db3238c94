// A request as the access log sees it, and its line.
#pragma once

#include <filesystem>
#include <string>

#include "proxy/observe/access_log.hpp"

namespace proxy::observe {

using namespace std::chrono_literals;

struct LoggedRequest {
  std::string method = "GET";
  std::string url = "http://a.test/x";
  RequestRecord record = hit();

  static RequestRecord hit() {
    RequestRecord record;
    record.tag = Tag::mem_hit;
    record.status = 200;
    record.bytes = 1234;
    record.content_type = "text/html";
    return record;
  }
  LogEntry entry() const {
    return {.ended = std::chrono::system_clock::time_point(1'700'000'000'042ms),
            .took = 7ms,
            .client = "192.0.2.7",
            .method = method,
            .url = url,
            .record = record};
  }
};

inline machine::Clock& the_clock() {
  static machine::Clock clock;
  return clock;
}

inline std::string squid_line(const LoggedRequest& request) {
  std::string line;
  append_squid_line(line, request.entry());
  return line;
}

inline config::LogSettings log_to(const std::filesystem::path& path) {
  return {config::LogTarget::file, path.string(), config::LogFormat::squid};
}

}  // namespace proxy::observe
