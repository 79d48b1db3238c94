// What an answer says has changed at its origin (RFC 9111 4.4). Pure.
#pragma once

#include <string_view>
#include <vector>

#include "proxy/http/head.hpp"
#include "proxy/http/target.hpp"

namespace proxy::cache {

// The URLs whose stored responses must not be used any more, `target` first: none for a safe method
// or an error; else also what Location and Content-Location name, of the same origin alone.
std::vector<http::Target> invalidated_by(std::string_view method, const http::Target& target,
                                         const http::ResponseHead& answer);

}  // namespace proxy::cache
