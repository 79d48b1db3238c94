#include "proxy/cache/head_quotes.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "proxy/http/text.hpp"

namespace proxy::cache {
HeadQuotes quotes_of(std::string_view head) {
  struct Quote {
    std::string_view name;
    std::string_view value = {};
    bool differ = false;  // two lines do
  };
  std::array<Quote, 3> quotes{Quote{"ETag"}, Quote{"Last-Modified"}, Quote{"Content-Type"}};
  bool sets_cookie = false;
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find('\r'));
    head.remove_prefix(std::min(head.size(), line.size() + 2));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto name = line.substr(0, colon);
    const auto value = http::trim(line.substr(colon + 1));
    for (Quote& quote : quotes) {
      if (!http::same_word(name, quote.name)) continue;
      quote.differ = quote.differ || (!quote.value.empty() && value != quote.value);
      quote.value = value;
    }
    sets_cookie = sets_cookie || http::same_word(name, "Set-Cookie");
  }
  for (Quote& quote : quotes) {
    if (quote.differ) quote.value = {};
  }
  return {quotes[0].value, quotes[1].value, quotes[2].value, sets_cookie};
}

QuotePlaces::QuotePlaces(std::string_view head) {
  const auto quotes = quotes_of(head);
  const auto record_extent = [&](Extent& extent, std::string_view quote) {
    if (quote.empty()) return;
    put(extent, static_cast<std::size_t>(quote.data() - head.data()), quote.size());
  };
  record_extent(etag_, quotes.etag);
  record_extent(last_modified_, quotes.last_modified);
  record_extent(content_type_, quotes.content_type);
  etag_.flag = quotes.sets_cookie;
}

bool QuotePlaces::record(http::field id, std::size_t begin, std::size_t size) {
  const auto take = [&](Extent& extent) {
    const bool is_first = extent.size == 0;
    put(extent, begin, size);
    return is_first;
  };
  switch (id) {
    case http::field::etag:
      return take(etag_);
    case http::field::last_modified:
      return take(last_modified_);
    case http::field::content_type:
      return take(content_type_);
    // There is no extent for the cookie: only whether there is one is asked.
    case http::field::set_cookie:
      etag_.flag = 1;
      return true;
    default:
      return true;
  }
}

void QuotePlaces::put(Extent& extent, std::size_t begin, std::size_t size) {
  constexpr std::size_t kLast = std::numeric_limits<std::uint16_t>::max();
  constexpr std::size_t kLongest = kLast / 2;
  // From then on in() searches the head, so that the other extents need not be right.
  if (begin > kLast || size > kLongest) last_modified_.flag = 1;
  if (is_far()) return;
  extent.begin = static_cast<std::uint16_t>(begin);
  extent.size = size & kLongest;
}

}  // namespace proxy::cache
