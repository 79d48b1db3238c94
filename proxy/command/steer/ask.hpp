// Asks a running proxy for one of its own pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/command/steer/place.hpp"

namespace proxy::command {

struct Question {
  std::string target;                    // path and query
  std::optional<std::string> body = {};  // with a body, even an empty one: POST; else GET
};

struct Page {
  long status = 0;
  std::string body;
  std::uint64_t bytes = 0;  // of the response, head included
};

// Waits for the whole page. Fails with kUnreachable if no proxy answers, and if the page is cut or
// longer than 64 MiB. A proxy that sends nothing for 60 s counts as cut. Throws std::bad_alloc.
Answered<Page> ask(const Place& place, const Question& question);

// The body of a page with status 200. Any other status fails with kRefusal, and the proxy's words.
Answered<std::string> ask_for(const Place& place, const Question& question);

// The failure that such a page means.
Unanswered refusal(const Place& place, const Page& page);

// Encodes a text as the value of a parameter in a URL.
std::string parameter(std::string_view text);

}  // namespace proxy::command
