// The URLs that a response shows to have changed at the origin (RFC 9111 4.4). Pure.
#pragma once

#include <string_view>
#include <vector>

#include "proxy/http/head.hpp"
#include "proxy/http/target.hpp"

namespace proxy::cache {

// The URLs whose stored responses a cache must invalidate: none for a safe method or an error
// response; else `target` first, then the URLs in Location and Content-Location if they have the
// same origin.
std::vector<http::Target> invalidated_by(std::string_view method, const http::Target& target,
                                         const http::ResponseHead& answer);

}  // namespace proxy::cache
