// Digests of the bodies of responses, known before the bodies come. Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "proxy/cache/entry.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/mirrors/content_name.hpp"

namespace proxy::policy {

struct Request;

// The digest that the request's URL has of the body of a 200, by the rule of the site. Nothing:
// none.
std::optional<mirrors::ContentName> content_of(const Request& request);

// The result of content_of(), if every URL with this digest gets the same response: by the rule of
// the site (StoredUnder::content), and for a GET or HEAD that anybody might have sent. Such a
// request may get the response that is stored under another URL, if its own URL has none.
std::optional<mirrors::ContentName> shared_content_of(const Request& request);
// The name of the record that tells where such a body is stored (cache::Space::content). Neighbours
// claim it.
std::string stored_under(const mirrors::ContentName& name);
// The entity tag that the body has wherever it is given by its digest, in quotes.
std::string entity_tag_of(const mirrors::ContentName& name);

// Whether the stored response has that entity tag, of the digest in the request's URL. Servers that
// have the body under other URLs do not know the tag.
bool has_tag_of_digest(const cache::Entry& stored, const Request& request);
// Whether the answer's bytes may continue the stored response, if they are where they should be and
// its complete length is the same. Of a response that has the tag of its digest, any server's may:
// whoever joins them verifies the whole.
bool may_continue(const cache::Entry& stored, const http::Fields& answer, const Request& request);

// The digest of the whole body of which an answer has all or a part: by the URL, else as the
// answer's Repr-Digest says. Nothing if there is none, or if the answer is coded: its bytes are
// then not those that a URL's digest is of.
std::optional<mirrors::ContentName> digest_of(const http::Fields& answer, const Request& request);

}  // namespace proxy::policy
