// Responses that are stored for everybody, for a client with credentials, who might otherwise have
// each byte from the origin alone.
#pragma once

#include "proxy/client/client.hpp"

namespace proxy::policy {
struct Request;
}

namespace proxy::answer {

// Whether the request's credentials alone keep it from what is stored: by the class of its URL
// (SiteRule::apply_to()), its response is otherwise for everybody. Such a response is private.
bool is_of_one_user(const policy::Request& request);

// Answers such a request. If what everybody gets is stored, and the origin says to a HEAD with the
// client's credentials that the client may have it, that is the response: after a 200 where the URL
// has the digest of the body, else after a 200 with the entity tag of the stored response. Without
// an answer of the origin, what never changes is the response if it is stored under this URL, since
// anybody may have it. Else passes the request.
net::Task<void> answer_user(client::Client& client, const policy::Request& request,
                            client::RequestBody& body);

}  // namespace proxy::answer
