// The head of a response that is passed on, and is not made from an entry.
#pragma once

#include <string>

#include "proxy/cache/freshness.hpp"
#include "proxy/client/client.hpp"
#include "proxy/http/head.hpp"

namespace proxy {

// The origin's status line and end-to-end fields, with our Via, for ResponseWriter::start(). A
// missing Date is added (RFC 9110 6.6.1). An Age is computed anew from `times`, those of the
// response (RFC 9111 4.2.3).
std::string passed_head(const ServeAccess& access, const http::ResponseHead& head,
                        const cache::Times& times);

// Notes the media type, without parameters, for the log.
void note_content_type(Client& client, std::string_view content_type);

}  // namespace proxy
