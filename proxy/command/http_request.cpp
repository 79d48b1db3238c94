#include "proxy/command/http_request.hpp"

#include <array>
#include <new>

#include "proxy/version.hpp"

namespace proxy::command {
namespace {

constexpr long kConnectLimit = 5'000;  // milliseconds
constexpr std::size_t kLongestHead = std::size_t{64} << 10;

// What libcurl's callbacks are given. Each breaks the transfer off by another number than `count`.
struct Receiver {
  CURL* easy;
  const TakeBody& take;
  std::size_t head = 0;

  static std::size_t on_body(char* bytes, std::size_t, std::size_t count, void* into) noexcept try {
    const auto& self = *static_cast<Receiver*>(into);
    long status = 0;
    curl_easy_getinfo(self.easy, CURLINFO_RESPONSE_CODE, &status);
    return self.take({bytes, count}, status) ? count : 0;
  } catch (const std::bad_alloc&) {
    return 0;
  }

  // libcurl 7.88 sets no limit to the length of a head (CVE-2023-38039).
  static std::size_t on_head(char*, std::size_t, std::size_t count, void* into) noexcept {
    auto& self = *static_cast<Receiver*>(into);
    self.head += count;
    return self.head > kLongestHead ? 0 : count;
  }
};

}  // namespace

HttpOutcome transfer(const HttpRequest& request, const TakeBody& take) {
  const peers::CurlEasy owner(curl_easy_init());
  const peers::CurlList fields(curl_slist_append(nullptr, request.field.c_str()));
  if (!owner || !fields) throw std::bad_alloc();
  CURL* const easy = owner.get();
  Receiver receiver{easy, take};
  std::array<char, CURL_ERROR_SIZE> reason{};
  curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  if (!request.socket.empty()) {
    curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, request.socket.c_str());
  }
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields.get());
  curl_easy_setopt(easy, CURLOPT_USERAGENT, std::string(kProduct).c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, request.protocols);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  // The environment may name as http_proxy the very proxy that is asked.
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, kConnectLimit);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request.limit.count()));
  // A byte per second is no silence: libcurl measures the mean speed of the last seconds.
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, static_cast<long>(request.patience.count()));
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, reason.data());
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Receiver::on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &receiver);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Receiver::on_head);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &receiver);
  if (request.body) {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body->size()));
    curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, request.body->c_str());
  }
  HttpOutcome outcome;
  outcome.code = curl_easy_perform(easy);
  outcome.reason = reason[0] != '\0' ? reason.data() : curl_easy_strerror(outcome.code);
  // libcurl has no flag that says whether it connected; a connection takes some microseconds.
  curl_off_t microseconds = 0;
  curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &microseconds);
  outcome.connected = microseconds > 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &outcome.status);
  curl_easy_getinfo(easy, CURLINFO_HEADER_SIZE, &outcome.head_bytes);
  curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &outcome.system_error);
  return outcome;
}

std::string percent_encoded(std::string_view text) {
  if (text.empty()) return {};
  const auto size = static_cast<int>(text.size());
  const peers::CurlText encoded(curl_easy_escape(nullptr, text.data(), size));
  if (!encoded) throw std::bad_alloc();
  return encoded.get();
}

}  // namespace proxy::command
