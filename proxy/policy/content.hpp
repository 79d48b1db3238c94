// Digests of the bodies of responses, known before the bodies come. Pure; any thread.
#pragma once

#include <optional>

#include "proxy/http/fields.hpp"
#include "proxy/mirrors/content_name.hpp"

namespace proxy::policy {

struct Request;

// The digest that the request's URL has of the body of a 200, by the rule of the site. Nothing:
// none.
std::optional<mirrors::ContentName> content_of(const Request& request);

// The digest of the whole body of which an answer has all or a part: by the URL, else as the
// answer's Repr-Digest says. Nothing if there is none, or if the answer is coded: its bytes are
// then not those that a URL's digest is of.
std::optional<mirrors::ContentName> digest_of(const http::Fields& answer, const Request& request);

}  // namespace proxy::policy
