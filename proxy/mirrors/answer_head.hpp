// What another server's answer may do in a browser that takes it for a page of this proxy.
#pragma once

#include <string>
#include <string_view>

namespace proxy::mirrors {

// The head of an answer that is delivered under a path of ours, so that a page of another server
// has no power over our own pages, which have the same origin in a browser:
// - without the fields by which a server speaks for its origin, such as Set-Cookie and
//   Strict-Transport-Security, and without Location, which may name a path of ours;
// - with `X-Content-Type-Options: nosniff`, so that the type that the field names counts;
// - with a Content-Security-Policy that gives a page an origin of its own, and runs nothing. It has
//   no effect on what is no page, so it does not depend on the type, which browsers read in ways of
//   their own.
//
// `head`: a status line and fields, each with CRLF, without obs-fold and the empty line; so is the
// result.
std::string harmless_head(std::string_view head);

// Adds a Docker-Content-Digest to such a head if it has none. An empty digest is not added.
void add_image_digest(std::string& head, std::string_view digest);

}  // namespace proxy::mirrors
