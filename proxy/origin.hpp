// Where a client's request leads, and how far we trust it there.
#pragma once

#include "proxy/http/target.hpp"
#include "proxy/lists/access_lists.hpp"
#include "proxy/upstream/endpoint.hpp"

namespace proxy {

// The one way from a client's URL to what is connected to.
upstream::Endpoint origin_of(const http::Target& target, const lists::AccessLists& lists);

}  // namespace proxy
