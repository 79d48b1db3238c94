// A refusal in words: a page for a person at a browser, one line for every other client.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/policy/error_pages.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/reply/own_message.hpp"
#include "proxy/reply/refuse.hpp"

namespace proxy {

// Whether the client's Accept names text/html.
bool is_browser(const Request& request);

// Which page of a site tells of this refusal. Pure.
ErrorPage page_of(const Refusal& refusal);

// The whole response, with the status and the Cache-Status of the refusal: a page for a browser,
// else the line "cache-a: REASON; URL: <URL>; time: TIME. ADVICE Whom to ask: CONTACT". The proxy's
// own pages, and answers to only-if-cached, say the reason alone. `request`: null if it could not
// be read.
OwnMessage error_message(const Client& client, const Request* request, const Refusal& refusal);

}  // namespace proxy
