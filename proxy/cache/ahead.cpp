#include "proxy/cache/ahead.hpp"

#include "proxy/http/range.hpp"
#include "proxy/http/validators.hpp"

namespace proxy::cache {
namespace {

bool names_another(const RequestFacts& request, std::string_view etag) {
  if (!request.shown_tags.empty()) return !http::names_tag(request.shown_tags, etag);
  if (!request.if_range || !http::parse_entity_tag(*request.if_range)) return false;
  return !http::strongly_equal(*request.if_range, etag);
}

}  // namespace

bool is_ahead(const RequestFacts& request, std::string_view etag,
              std::optional<std::uint64_t> length) {
  if (!request.range || !length || !names_another(request, etag)) return false;
  return http::select_ranges(request.ranges, *length).kind == http::Selection::Kind::none;
}

}  // namespace proxy::cache
