// What another server's answer may do in a browser that takes it for a page of this proxy.
#pragma once

#include <string>
#include <string_view>

#include "proxy/http/target.hpp"

namespace proxy::mirrors {

// Where a client finds the URLs of a mirrored server: `ours` is "http://cache.example:3128/models",
// if the path /models/file there stands for /file of `origin`, "https://models.example.com".
struct Place {
  std::string origin = {};
  std::string ours = {};  // empty: not known
  std::string base = {};  // "http://cache.example:3128"
  // The registry that the client names with each of our paths for images; empty: none.
  std::string registry = {};
  bool by_parameter = false;  // `ns` names it, else the beginning of the path
  // Whether the client is a browser, for which all paths of this proxy have one origin.
  bool is_browser = false;
};

// The path and query of a request's target in origin-form or absolute-form.
std::string_view path_in(std::string_view asked);

// `asked`: the target of the client's request, as it came, which stands for `url`; `base`: how the
// client names this proxy, "http://cache.example:3128", or empty.
Place place_of(std::string_view asked, std::string_view base, const http::Target& url);

// Whether the line, of a request or an answer, leads a Hugging Face client past every mirror: it
// asks for a file's Xet information in place of the file, or says where to get its pieces.
bool leads_around(std::string_view name, std::string_view value);

// The head of an answer that is delivered under a path of ours, so that a page of another server
// has no power over our own pages, which have the same origin in a browser:
// - without the fields by which a server speaks for its origin, such as Set-Cookie and
//   Strict-Transport-Security, and without Location, which may name a path of ours;
// - with `X-Content-Type-Options: nosniff`, so that the type that the field names counts;
// - with a Content-Security-Policy that gives a page an origin of its own, and runs nothing. Every
//   response gets the policy, because browsers differ in what they take for a page; a download is
//   not changed by the policy;
// - without the fields that lead clients past the mirror: leads_around();
// - for a browser without the challenges of a server: it would ask for a password for our own
//   origin, and send that to each mirrored server with the same realm (RFC 7617 2.2);
// - with the targets of Link as the client finds them at `place`. They are not relative, since few
//   clients resolve them.
//
// `head`: a status line and fields, each with CRLF, without obs-fold and the empty line; so is the
// result.
std::string harmless_head(std::string_view head, const Place& place);

// Adds a Docker-Content-Digest to such a head if it has none. An empty digest is not added.
void add_image_digest(std::string& head, std::string_view digest);

}  // namespace proxy::mirrors
