// Tags of images, which come to mean other manifests.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/policy/request.hpp"

namespace proxy::answer {

// Whether the request is for the manifest that a tag of a mirrored registry names, by a client
// without credentials.
bool asks_by_tag(const policy::Request& request);

// Makes it a request for that manifest by its digest, which is one for all who have it, wherever
// they have it from. The registry is asked by HEAD, with the client's Accept, unless its answer is
// fresh by the rule of the tag; if it does not answer, or has no time, an older answer counts. The
// request stays as it is if the registry names no digest.
net::Task<void> resolve_tag(client::Client& client, policy::Request& request);

}  // namespace proxy::answer
