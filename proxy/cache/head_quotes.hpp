// What is asked of a stored head again and again, found once. Pure.
#pragma once

#include <string_view>

namespace proxy::cache {

// Views into the head. A value is empty if no line has it, or if two lines differ, since the right
// one is unknown.
struct HeadQuotes {
  std::string_view etag;
  std::string_view last_modified;
  std::string_view content_type;
  // The head has Set-Cookie. A stored head lacks the fields that `private` or `no-cache` names.
  bool sets_cookie = false;
};

// Of a head like Entry::head: CRLF after each line.
HeadQuotes quotes_of(std::string_view head);

}  // namespace proxy::cache
