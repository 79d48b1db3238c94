#include "proxy/cache/head_quotes.hpp"

#include <algorithm>
#include <limits>

#include "proxy/http/text.hpp"

namespace proxy::cache {
namespace {

// Collects a field's value from its lines.
class Quote {
 public:
  explicit Quote(std::string_view name) : name_(name) {}

  void look_at(std::string_view name, std::string_view text) {
    if (!http::same_word(name, name_)) return;
    const auto found = http::trim(text);
    differ_ = differ_ || (!value_.empty() && found != value_);
    value_ = found;
  }
  [[nodiscard]] std::string_view value() const { return differ_ ? std::string_view() : value_; }

 private:
  const std::string_view name_;
  std::string_view value_;
  bool differ_ = false;
};

}  // namespace

HeadQuotes quotes_of(std::string_view head) {
  Quote etag("ETag"), last_modified("Last-Modified"), content_type("Content-Type");
  bool sets_cookie = false;
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find('\r'));
    head.remove_prefix(std::min(head.size(), line.size() + 2));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto name = line.substr(0, colon);
    const auto text = line.substr(colon + 1);
    etag.look_at(name, text);
    last_modified.look_at(name, text);
    content_type.look_at(name, text);
    sets_cookie = sets_cookie || http::same_word(name, "Set-Cookie");
  }
  return {etag.value(), last_modified.value(), content_type.value(), sets_cookie};
}

QuotePlaces::QuotePlaces(std::string_view head) {
  const auto quotes = quotes_of(head);
  const auto note_place = [&](Place& place, std::string_view quote) {
    if (quote.empty()) return;
    put(place, static_cast<std::size_t>(quote.data() - head.data()), quote.size());
  };
  note_place(etag_, quotes.etag);
  note_place(last_modified_, quotes.last_modified);
  note_place(content_type_, quotes.content_type);
  etag_.flag = quotes.sets_cookie;
}

bool QuotePlaces::note(http::field id, std::size_t begin, std::size_t size) {
  const auto take = [&](Place& place) {
    const bool is_first = place.size == 0;
    put(place, begin, size);
    return is_first;
  };
  switch (id) {
    case http::field::etag:
      return take(etag_);
    case http::field::last_modified:
      return take(last_modified_);
    case http::field::content_type:
      return take(content_type_);
    case http::field::set_cookie:
      etag_.flag = 1;
      return true;
    default:
      return true;
  }
}

void QuotePlaces::put(Place& place, std::size_t begin, std::size_t size) {
  constexpr std::size_t kLast = std::numeric_limits<std::uint16_t>::max();
  constexpr std::size_t kLongest = kLast / 2;
  if (begin > kLast || size > kLongest) last_modified_.flag = 1;
  if (is_far()) return;
  place.begin = static_cast<std::uint16_t>(begin);
  place.size = size & kLongest;
}

}  // namespace proxy::cache
