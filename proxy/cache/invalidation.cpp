#include "proxy/cache/invalidation.hpp"

#include "proxy/http/head.hpp"
#include "proxy/http/target.hpp"

namespace proxy::cache {

std::vector<http::Target> invalidated_by(std::string_view method, const http::Target& target,
                                         const http::ResponseHead& answer) {
  if (http::is_safe(method) || answer.status < 200 || answer.status >= 400) return {};
  std::vector<http::Target> urls{target};
  for (const auto name : {http::field::location, http::field::content_location}) {
    const auto* line = answer.fields.find(name);
    if (!line) continue;
    auto named = http::resolve(target, line->value);
    if (named && http::same_origin(*named, target)) urls.push_back(std::move(*named));
  }
  return urls;
}

}  // namespace proxy::cache
