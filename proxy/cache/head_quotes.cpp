#include "proxy/cache/head_quotes.hpp"

#include <algorithm>

#include "proxy/http/text.hpp"

namespace proxy::cache {
namespace {

// Collects a field's value from its lines.
class Quote {
 public:
  explicit Quote(std::string_view name) : name_(name) {}

  void look_at(std::string_view line) {
    if (!is_in(line)) return;
    const auto found = http::trim(line.substr(name_.size() + 1));
    differ_ = differ_ || (!value_.empty() && found != value_);
    value_ = found;
  }
  [[nodiscard]] bool is_in(std::string_view line) const {
    return line.size() > name_.size() && line[name_.size()] == ':' &&
           http::same_word(line.substr(0, name_.size()), name_);
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
  const Quote set_cookie("Set-Cookie");
  bool sets_cookie = false;
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find('\r'));
    etag.look_at(line);
    last_modified.look_at(line);
    content_type.look_at(line);
    sets_cookie = sets_cookie || set_cookie.is_in(line);
    head.remove_prefix(std::min(head.size(), line.size() + 2));
  }
  return {etag.value(), last_modified.value(), content_type.value(), sets_cookie};
}

QuotePlaces::QuotePlaces(std::string_view head) {
  const auto quotes = quotes_of(head);
  etag_ = place_of(quotes.etag, head);
  last_modified_ = place_of(quotes.last_modified, head);
  content_type_ = place_of(quotes.content_type, head);
  sets_cookie_ = quotes.sets_cookie;
}

QuotePlaces::Place QuotePlaces::place_of(std::string_view quote, std::string_view head) {
  if (quote.empty()) return {};
  return {static_cast<std::uint32_t>(quote.data() - head.data()),
          static_cast<std::uint32_t>(quote.size())};
}

}  // namespace proxy::cache
