// Asks a running proxy for one of its own pages.
#pragma once

#include <cstdint>
#include <string>

#include "proxy/command/page_transfer.hpp"
#include "proxy/command/steer/place.hpp"

namespace proxy::command {

struct Page {
  long status = 0;
  std::string body;
  std::uint64_t bytes = 0;  // of the response, head included
};

// The request for a page that a proxy has at hand: it may be silent for 5 s, else it hangs.
PageRequest view(std::string target);

// Waits for the whole page. Fails with kUnreachable if no proxy answers, if the page is cut or
// longer than 64 MiB, and if the proxy is silent for longer than the request's patience. Throws
// std::bad_alloc.
Answered<Page> ask(const Place& place, const PageRequest& request);

// The body of a page with status 200. Any other status fails with kRefusal, and the proxy's words.
Answered<std::string> ask_for(const Place& place, const PageRequest& request);

// The failure that such a page means.
Unanswered refusal(const Place& place, const Page& page);

}  // namespace proxy::command
