#include "proxy/command/digest/fetch.hpp"

#include <fmt/format.h>

#include <array>
#include <new>

#include "peers/curl.hpp"
#include "peers/native_target.hpp"
#include "proxy/version.hpp"

namespace proxy::command {
namespace {

constexpr std::string_view kSquidPath = "/squid-internal-periodic/store_digest";
constexpr std::size_t kMaxBody = digest::kSquidControlBytes + digest::kMaxSquidMaskBytes;
constexpr std::size_t kMaxHead = std::size_t{64} << 10;
constexpr std::chrono::milliseconds kMaxConnect{5'000};

struct Answer {
  long status = 0;
  std::vector<std::uint8_t> body;
  std::size_t head_bytes = 0;
  bool too_large = false;
};

// libcurl breaks off if this returns another number than `count`.
std::size_t on_body(char* bytes, std::size_t, std::size_t count, void* into) noexcept try {
  auto& answer = *static_cast<Answer*>(into);
  answer.too_large = answer.body.size() + count > kMaxBody;
  if (answer.too_large) return 0;
  answer.body.insert(answer.body.end(), bytes, bytes + count);
  return count;
} catch (const std::bad_alloc&) {
  return 0;
}

// libcurl 7.88 sets no limit to the length of a head (CVE-2023-38039).
std::size_t on_head(char*, std::size_t, std::size_t count, void* into) noexcept {
  auto& answer = *static_cast<Answer*>(into);
  answer.head_bytes += count;
  answer.too_large = answer.head_bytes > kMaxHead;
  return answer.too_large ? 0 : count;
}

void set_route(CURL* easy, std::chrono::milliseconds limit) {
  curl_easy_setopt(easy, CURLOPT_USERAGENT, std::string(kProduct).c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(std::min(limit, kMaxConnect).count()));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(limit.count()));
}

Result<Answer> get(const std::string& url, std::string_view accept,
                   std::chrono::milliseconds limit) {
  const peers::CurlEasy easy(curl_easy_init());
  const peers::CurlList fields(
      curl_slist_append(nullptr, fmt::format("Accept: {}", accept).c_str()));
  if (!easy || !fields) throw std::bad_alloc();
  Answer answer;
  std::array<char, CURL_ERROR_SIZE> reason{};
  set_route(easy.get(), limit);
  curl_easy_setopt(easy.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, fields.get());
  curl_easy_setopt(easy.get(), CURLOPT_ERRORBUFFER, reason.data());
  curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &answer);
  curl_easy_setopt(easy.get(), CURLOPT_HEADERFUNCTION, on_head);
  curl_easy_setopt(easy.get(), CURLOPT_HEADERDATA, &answer);
  const CURLcode code = curl_easy_perform(easy.get());
  if (answer.too_large) return Trouble{url + ": the answer is larger than any digest"};
  if (code != CURLE_OK) {
    const std::string why = reason[0] != '\0' ? reason.data() : curl_easy_strerror(code);
    return Trouble{fmt::format("{}: {}", url, why)};
  }
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &answer.status);
  return answer;
}

Trouble refused(const std::string& url, long status) {
  if (status == 403) {
    return {
        fmt::format("{}: refused (403): only neighbours may read a digest; on that proxy, add this "
                    "machine to access.peers (Hearsay) or allow it by http_access (Squid)",
                    url)};
  }
  if (status == 404) {
    return {
        fmt::format("{}: no digest there (404): not a Hearsay, or a Squid that is still "
                    "building its digest or has no cache_dir",
                    url)};
  }
  return {fmt::format("{}: answered {} instead of 200", url, status)};
}

Result<FetchedDigest> digest_in(std::string url, const Answer& answer) {
  if (answer.status != 200) return refused(url, answer.status);
  auto digest = AnyDigest::decode(answer.body, url);
  if (!digest) return digest.error();
  return FetchedDigest{std::move(url), std::move(*digest)};
}

// The position of the URL's path; npos if there is none but "/".
std::size_t path_of(std::string_view url) {
  const std::size_t slash = url.find('/', url.find("//") + 2);
  return slash == std::string_view::npos || slash + 1 == url.size() ? std::string_view::npos
                                                                    : slash;
}

Result<FetchedDigest> fetch_of_proxy(const std::string& place, std::chrono::milliseconds limit) {
  const std::string native = place + peers::native_target(nullptr);
  const auto first = get(native, peers::kNativeType, limit);
  if (!first) return first.error();
  // A 200 may be an error page.
  const bool ours = first->status == 200 && AnyDigest::decode(first->body, native);
  if (ours) return digest_in(native, *first);
  const std::string squids = place + std::string(kSquidPath);
  const auto second = get(squids, "application/cache-digest", limit);
  if (!second) return second.error();
  // If a Hearsay refuses, its first answer says so; the second is for Squid's path.
  return first->status == 403 && second->status != 200 ? digest_in(native, *first)
                                                       : digest_in(squids, *second);
}

}  // namespace

bool is_url(std::string_view name) {
  return name.starts_with("http://") || name.starts_with("https://");
}

Result<FetchedDigest> fetch_digest(const std::string& url, std::chrono::milliseconds limit) {
  if (path_of(url) == std::string_view::npos) {
    return fetch_of_proxy(url.ends_with('/') ? url.substr(0, url.size() - 1) : url, limit);
  }
  const auto answer = get(url, "*/*", limit);
  if (!answer) return answer.error();
  return digest_in(url, *answer);
}

Result<AnyDigest> open_or_fetch(const std::string& name, std::chrono::milliseconds limit) {
  if (!is_url(name)) return AnyDigest::open(name);
  auto fetched = fetch_digest(name, limit);
  if (!fetched) return fetched.error();
  return std::move(fetched->digest);
}

}  // namespace proxy::command
