// Tags that are equal by strong comparison are equal by weak comparison, in either order; and a tag
// in a list is found whatever other text is around it. Input: lines, the first one a stored ETag,
// the second If-None-Match or another tag, the third If-Modified-Since.
#include <cstdlib>
#include <string>

#include "proxy/http/date.hpp"
#include "proxy/http/validators.hpp"
#include "tests/fuzz/take_line.hpp"

using namespace proxy::http;

namespace {

constexpr std::chrono::sys_seconds kNow{std::chrono::seconds(1'700'000'000)};

bool matches(std::string_view list, std::string_view etag, std::string_view second = {}) {
  Fields request;
  request.append("If-None-Match", list);
  if (!second.empty()) request.append("If-None-Match", second);
  return not_modified(request, {etag, {}}, kNow);
}

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view etag = take_line(rest), list = take_line(rest), since = take_line(rest);
  check(strongly_equal(etag, list) == strongly_equal(list, etag));
  check(weakly_equal(etag, list) == weakly_equal(list, etag));
  check(!strongly_equal(etag, list) || weakly_equal(etag, list));
  check(list == "*" || !matches(list, ""));

  if (const auto tag = parse_entity_tag(etag)) {
    const std::string text(etag);
    const std::string other_strength = tag->weak ? text.substr(2) : "W/" + text;
    check(strongly_equal(etag, etag) == !tag->weak);
    check(!strongly_equal(etag, other_strength));
    check(matches(other_strength, etag) && matches(list, etag, etag));
    check(matches(text + " ," + std::string(list), etag));
    check(matches("\"\", W/\"a,b\",, " + text, etag));
  }
  Fields request;
  request.append("If-Modified-Since", since);
  const auto date = parse_date(since, kNow);
  check(not_modified(request, {etag, kNow}, kNow) == (date && *date >= kNow));
  request.append("If-None-Match", list);
  check(not_modified(request, {etag, kNow}, kNow) == matches(list, etag));
  return 0;
}
