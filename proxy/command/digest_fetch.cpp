#include <fmt/format.h>

#include "peers/native_target.hpp"
#include "proxy/command/any_digest.hpp"
#include "proxy/command/ask.hpp"

namespace proxy::command {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kSquidPath = "/squid-internal-periodic/store_digest";
// No server may have us store more than a digest can be.
constexpr std::size_t kMaxBody = digest::kSquidControlBytes + digest::kMaxSquidMaskBytes;

struct Answer {
  long status = 0;
  std::vector<std::uint8_t> body;
};

Result<Answer> get(const std::string& url, std::string_view accept, milliseconds limit) {
  Answer answer;
  const auto outcome = transfer({.url = url,
                                 .field = fmt::format("Accept: {}", accept),
                                 .limit = limit,
                                 .protocols = "http,https"},
                                [&answer](std::string_view bytes, long) {
                                  if (answer.body.size() + bytes.size() > kMaxBody) return false;
                                  answer.body.insert(answer.body.end(), bytes.begin(), bytes.end());
                                  return true;
                                });
  // Only we end a transfer so, when the body has outgrown its limit.
  if (outcome.code == CURLE_WRITE_ERROR) {
    return Trouble{url + ": the answer is larger than any digest"};
  }
  if (outcome.code != CURLE_OK) return Trouble{fmt::format("{}: {}", url, outcome.reason)};
  answer.status = outcome.status;
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

Result<FoundDigest> digest_in(const std::string& url, const Answer& answer) {
  if (answer.status != 200) return refused(url, answer.status);
  auto digest = AnyDigest::decode(answer.body, url);
  if (!digest) return digest.error();
  return FoundDigest{url, std::move(*digest)};
}

// The position of the URL's path; npos if there is none but "/".
std::size_t path_of(std::string_view url) {
  const std::size_t slash = url.find('/', url.find("//") + 2);
  return slash == std::string_view::npos || slash + 1 == url.size() ? std::string_view::npos
                                                                    : slash;
}

Result<FoundDigest> fetch_of_proxy(const std::string& place, milliseconds limit) {
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

Result<FoundDigest> find_digest(const std::string& name, milliseconds limit) {
  if (!name.starts_with("http://") && !name.starts_with("https://")) {
    auto digest = AnyDigest::open(name);
    if (!digest) return digest.error();
    return FoundDigest{"", std::move(*digest)};
  }
  if (path_of(name) == std::string_view::npos) {
    return fetch_of_proxy(name.ends_with('/') ? name.substr(0, name.size() - 1) : name, limit);
  }
  const auto answer = get(name, "*/*", limit);
  if (!answer) return answer.error();
  return digest_in(name, *answer);
}

}  // namespace proxy::command
