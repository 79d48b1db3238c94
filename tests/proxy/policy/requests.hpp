// Requests and answers written as text.
#pragma once

#include <memory>
#include <string>

#include "proxy/policy/policy.hpp"
#include "proxy/policy/request.hpp"

namespace proxy::policy {

// A policy with the defaults of the settings.
inline const PinnedPolicy& default_policy() {
  static const PinnedPolicy policy =
      std::make_shared<const Policy>(config::Settings{}, lists::AccessLists{});
  return policy;
}

// A parsed request with the text it refers to.
struct TextRequest {
  explicit TextRequest(std::string lines, const std::string& line = "GET http://a.test/x HTTP/1.1")
      : text(line + "\r\nHost: a.test\r\n" + std::move(lines) + "\r\n"),
        parsed(parse_request(text, {}).value()) {
    parsed->pin(default_policy());
  }
  TextRequest(const TextRequest&) = delete;
  TextRequest& operator=(const TextRequest&) = delete;
  const Request& operator*() const { return *parsed; }

  const std::string text;
  const std::unique_ptr<Request> parsed;
};

struct TextAnswer {
  TextAnswer(unsigned status, const std::string& lines)
      : text("HTTP/1.1 " + std::to_string(status) + " X\r\n" + lines + "\r\n"),
        head(http::parse_response_head(text).value()) {}
  TextAnswer(const TextAnswer&) = delete;
  TextAnswer& operator=(const TextAnswer&) = delete;

  std::string text;
  const http::ResponseHead head;
};

}  // namespace proxy::policy
