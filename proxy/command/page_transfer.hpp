// Asks a running proxy for one of its own pages.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "peers/curl.hpp"

namespace proxy::command {

struct PageRequest {
  std::string target;                    // path and query
  std::optional<std::string> body = {};  // with a body, even an empty one: POST; else GET
  // The proxy may be silent for so long. The default is for orders that take their time.
  std::chrono::seconds patience{60};
};

// One request, with the field that shows an admin's purpose. No other proxy is asked on the way. A
// proxy that is not connected to within 5 s, or is silent for longer than `patience`, fails it.
class PageTransfer {
 public:
  // `base`: the URL of the proxy. Throws std::bad_alloc.
  PageTransfer(const std::string& base, const PageRequest& request);

  // The proxy is asked over this Unix socket, whatever the URL says.
  void go_through(const std::string& socket);

  // Takes bytes of the body. The transfer breaks off if it returns another number than `count`.
  using Take = std::size_t (*)(char* bytes, std::size_t, std::size_t count, void* into) noexcept;
  // Blocks. Call it once.
  CURLcode perform(Take take, void* into);
  // Why perform() failed, for a person.
  [[nodiscard]] std::string reason(CURLcode code) const;

  [[nodiscard]] long status() const { return number(CURLINFO_RESPONSE_CODE); }
  [[nodiscard]] long head_bytes() const { return number(CURLINFO_HEADER_SIZE); }
  // Whether the proxy was connected to.
  [[nodiscard]] bool connected() const;
  // errno of a connection that failed.
  [[nodiscard]] long system_error() const { return number(CURLINFO_OS_ERRNO); }

 private:
  [[nodiscard]] long number(CURLINFO what) const;

  const peers::CurlEasy easy_;
  const peers::CurlList fields_;
  std::array<char, CURL_ERROR_SIZE> reason_{};
};

// Encodes a text as the value of a parameter in a URL.
std::string percent_encoded(std::string_view text);

}  // namespace proxy::command
