#include "proxy/command/page_transfer.hpp"

#include <new>

#include "proxy/version.hpp"

namespace proxy::command {
namespace {

constexpr long kConnectLimit = 5'000;  // milliseconds

}  // namespace

PageTransfer::PageTransfer(const std::string& base, const PageRequest& request)
    : easy_(curl_easy_init()), fields_(curl_slist_append(nullptr, "X-Hearsay: 1")) {
  if (!easy_ || !fields_) throw std::bad_alloc();
  CURL* const easy = easy_.get();
  curl_easy_setopt(easy, CURLOPT_URL, (base + request.target).c_str());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields_.get());
  curl_easy_setopt(easy, CURLOPT_USERAGENT, std::string(kProduct).c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http");
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, kConnectLimit);
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, static_cast<long>(request.patience.count()));
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, reason_.data());
  if (!request.body) return;
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body->size()));
  curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, request.body->c_str());
}

void PageTransfer::go_through(const std::string& socket) {
  curl_easy_setopt(easy_.get(), CURLOPT_UNIX_SOCKET_PATH, socket.c_str());
}

CURLcode PageTransfer::perform(Take take, void* into) {
  curl_easy_setopt(easy_.get(), CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(easy_.get(), CURLOPT_WRITEDATA, into);
  return curl_easy_perform(easy_.get());
}

std::string PageTransfer::reason(CURLcode code) const {
  return reason_[0] != '\0' ? reason_.data() : curl_easy_strerror(code);
}

bool PageTransfer::connected() const {
  curl_off_t microseconds = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_CONNECT_TIME_T, &microseconds);
  return microseconds > 0;
}

long PageTransfer::number(CURLINFO what) const {
  long number = 0;
  curl_easy_getinfo(easy_.get(), what, &number);
  return number;
}

std::string percent_encoded(std::string_view text) {
  if (text.empty()) return {};
  const auto size = static_cast<int>(text.size());
  const peers::CurlText encoded(curl_easy_escape(nullptr, text.data(), size));
  if (!encoded) throw std::bad_alloc();
  return encoded.get();
}

}  // namespace proxy::command
