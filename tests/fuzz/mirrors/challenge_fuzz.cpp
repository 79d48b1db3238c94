// Lines of WWW-Authenticate, or the answer of a token server: what is found is fit for a URL or a
// field value.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "proxy/mirrors/challenge.hpp"

using namespace proxy;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto token = mirrors::AnonymousToken::parse(text)) {
    const auto is_visible = [](char c) { return c > ' ' && c < 0x7f; };
    if (token->text.empty() || !std::ranges::all_of(token->text, is_visible)) std::abort();
    if (token->lasts.count() < 0) std::abort();
  }
  http::Fields fields;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    fields.append(http::field::www_authenticate, "WWW-Authenticate",
                  std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  const auto challenge = mirrors::BearerChallenge::parse(fields);
  if (!challenge) return 0;
  if (challenge->realm.empty()) std::abort();
  const auto url = mirrors::token_url(*challenge, "team/app");
  if (url && (!url->https() || url->had_userinfo() || url->host().empty())) std::abort();
  return 0;
}
