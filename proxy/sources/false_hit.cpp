#include "proxy/sources/false_hit.hpp"

#include "proxy/http/cache_status.hpp"
#include "proxy/http/text.hpp"

namespace proxy {

using peers::FalseHit;

namespace {

bool starts_with_word(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return text.empty() || text.front() == ' ' || text.front() == '/';
}

// RFC 9211 2.2, 2.8.
FalseHit cause_of(const http::NearestCacheStatus& said) {
  if (said.hit) return FalseHit::untold;
  if (starts_with_word(said.detail, "refused")) return FalseHit::refused;
  if (starts_with_word(said.detail, "unknown")) return FalseHit::unknown;
  if (said.fwd == "uri-miss") {
    return starts_with_word(said.detail, "gone") ? FalseHit::gone : FalseHit::absent;
  }
  if (said.fwd == "vary-miss") return FalseHit::variant;
  if (said.fwd == "stale" || said.fwd == "request") return FalseHit::stale;
  // `detail` tells of Squid's first look-up, by the URL alone. Squid sends `fwd` for stale
  // responses, and not always for others.
  if (said.detail == "mismatch") return FalseHit::absent;
  if (said.detail == "match") return FalseHit::variant;
  if (said.detail == "no-cache") return FalseHit::refused;
  return FalseHit::untold;
}

// "MISS from squid-a.test:3128", as Squid up to version 5 sends it.
FalseHit cause_of_lookup(std::string_view said) {
  const auto word = said.substr(0, said.find(' '));
  if (word == "MISS") return FalseHit::absent;
  if (word == "HIT") return FalseHit::stale;
  if (word == "NONE") return FalseHit::refused;
  return FalseHit::untold;
}

}  // namespace

FalseHit cause_of(const http::ResponseHead& answer) {
  const auto* page = answer.fields.find("X-Squid-Error");
  if (page && !starts_with_word(page->value, "ERR_ONLY_IF_CACHED_MISS")) return FalseHit::refused;
  if (const auto said = http::nearest_cache_status(answer.fields)) return cause_of(*said);
  // Each Squid on the way appends its own field: the last one is the nearest Squid's.
  std::string_view lookup;
  for (const auto& line : answer.fields) {
    if (http::same_word(line.name, "X-Cache-Lookup")) lookup = line.value;
  }
  return cause_of_lookup(lookup);
}

bool holds_other_parts(const http::ResponseHead& answer) {
  const auto said = http::nearest_cache_status(answer.fields);
  return said && !said->hit && said->fwd == "partial";
}

bool refuses_us(const http::ResponseHead& answer) {
  const auto status = answer.status;
  if (status != 403 && status != 407 && status != 504) return false;
  if (const auto* page = answer.fields.find("X-Squid-Error")) {
    return starts_with_word(page->value, "ERR_ACCESS_DENIED") ||
           starts_with_word(page->value, "ERR_CACHE_ACCESS_DENIED");
  }
  const auto said = http::nearest_cache_status(answer.fields);
  return said && starts_with_word(said->detail, std::string("refused/").append(kNotAClient));
}

}  // namespace proxy
