// One HTTP request to a proxy.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "peers/curl.hpp"

namespace proxy::command {

struct HttpRequest {
  std::string url;
  std::string socket = {};               // a Unix socket to connect to instead of the URL's host
  std::string field = "X-Hearsay: 1";    // shows an admin's purpose
  std::optional<std::string> body = {};  // with a body, even an empty one: POST; else GET
  std::chrono::seconds patience{0};      // the server may be silent for so long; 0: for ever
  std::chrono::milliseconds limit{0};    // of the whole transfer; 0: none
  const char* protocols = "http";
};

struct HttpOutcome {
  CURLcode code = CURLE_OK;
  std::string reason;      // why the transfer failed, for a person
  long status = 0;         // of the response
  long head_bytes = 0;     // of the response
  bool connected = false;  // whether the server was connected to
  long system_error = 0;   // errno of a connection that failed
};

// Receives a part of the body, with the status of the response. If it returns false, or if memory
// runs out, the transfer ends with CURLE_WRITE_ERROR.
using TakeBody = std::function<bool(std::string_view bytes, long status)>;

// Blocks. Fails if the server is not connected to within 5 s, or sends a head of more than 64 KiB.
// Uses no other proxy and follows no redirect. Throws std::bad_alloc.
HttpOutcome transfer(const HttpRequest& request, const TakeBody& take);

// Encodes a text as the value of a parameter in a URL.
std::string percent_encoded(std::string_view text);

}  // namespace proxy::command
