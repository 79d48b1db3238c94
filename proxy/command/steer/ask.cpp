#include "proxy/command/steer/ask.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include "peers/curl.hpp"
#include "proxy/command/terminal_text.hpp"
#include "proxy/version.hpp"

namespace proxy::command {
namespace {

constexpr std::size_t kLongest = std::size_t{64} << 20;
constexpr long kConnectLimit = 5'000;  // milliseconds
constexpr long kMaxSilence = 60;       // seconds

// libcurl breaks off if this returns another number than `count`.
std::size_t take(char* bytes, std::size_t, std::size_t count, void* into) noexcept try {
  auto& body = *static_cast<std::string*>(into);
  if (body.size() + count > kLongest) return 0;
  body.append(bytes, count);
  return count;
} catch (const std::bad_alloc&) {
  return 0;
}

Unanswered nobody_at_socket(const std::string& socket, long cause, std::string_view reason) {
  if (cause == EACCES || cause == EPERM) {
    return {kUnreachable, fmt::format("{}: permission denied: the socket is for the proxy's user "
                                      "and group; run this as one of them, or with sudo",
                                      socket)};
  }
  if (cause == ENOENT || cause == ECONNREFUSED || cause == ENOTDIR) {
    return {kUnreachable,
            fmt::format("no proxy listens at {}: is it running? --socket names another socket, "
                        "--config the settings that name it, --url a proxy elsewhere",
                        socket)};
  }
  return {kUnreachable, fmt::format("the proxy at {}: {}", socket, reason)};
}

Unanswered unanswered(CURL* easy, const Place& place, CURLcode code, std::string_view reason) {
  const std::string_view why = reason.empty() ? curl_easy_strerror(code) : reason;
  long cause = 0;
  curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &cause);
  if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL) {
    return {kUsage, fmt::format("--url {}: expected http://HOST:PORT", place.url)};
  }
  if (code == CURLE_WRITE_ERROR) {
    return {kUnreachable, fmt::format("the page of {} is too long", place.name())};
  }
  const bool connected = code != CURLE_COULDNT_CONNECT && code != CURLE_COULDNT_RESOLVE_HOST;
  if (!connected && place.url.empty()) return nobody_at_socket(place.socket, cause, why);
  if (connected) return {kUnreachable, fmt::format("the proxy at {}: {}", place.name(), why)};
  return {kUnreachable, fmt::format("no proxy answers at {}: {}: is it running, and may this "
                                    "machine reach it?",
                                    place.url, why)};
}

void set_limits(CURL* easy) {
  curl_easy_setopt(easy, CURLOPT_USERAGENT, std::string(kProduct).c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http");
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, kConnectLimit);
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, kMaxSilence);
}

}  // namespace

Answered<Page> ask(const Place& place, const Question& question) {
  const peers::CurlEasy easy(curl_easy_init());
  const peers::CurlList fields(curl_slist_append(nullptr, "X-Hearsay: 1"));
  if (!easy || !fields) throw std::bad_alloc();
  const bool local = place.url.empty();
  const auto url = (local ? "http://localhost" : place.url) + question.target;
  Page page;
  std::array<char, CURL_ERROR_SIZE> reason{};
  set_limits(easy.get());
  curl_easy_setopt(easy.get(), CURLOPT_URL, url.c_str());
  if (local) curl_easy_setopt(easy.get(), CURLOPT_UNIX_SOCKET_PATH, place.socket.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, fields.get());
  curl_easy_setopt(easy.get(), CURLOPT_ERRORBUFFER, reason.data());
  curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &page.body);
  if (question.body) {
    curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDSIZE, static_cast<long>(question.body->size()));
    curl_easy_setopt(easy.get(), CURLOPT_COPYPOSTFIELDS, question.body->c_str());
  }
  const CURLcode code = curl_easy_perform(easy.get());
  if (code != CURLE_OK) return unanswered(easy.get(), place, code, reason.data());
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &page.status);
  long head = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_HEADER_SIZE, &head);
  page.bytes = static_cast<std::uint64_t>(head) + page.body.size();
  return page;
}

Unanswered refusal(const Place& place, const Page& page) {
  const auto words = page.body.substr(0, page.body.find_last_not_of("\r\n") + 1);
  return {kRefusal, fmt::format("the proxy at {} answered {}: {}", place.name(), page.status,
                                escaped(words, 4096))};
}

Answered<std::string> ask_for(const Place& place, const Question& question) {
  auto page = ask(place, question);
  if (!page) return page.error();
  if (page->status != 200) return refusal(place, *page);
  return std::move(page->body);
}

std::string parameter(std::string_view text) {
  if (text.empty()) return {};
  const auto size = static_cast<int>(text.size());
  const peers::CurlText encoded(curl_easy_escape(nullptr, text.data(), size));
  if (!encoded) throw std::bad_alloc();
  return encoded.get();
}

}  // namespace proxy::command
