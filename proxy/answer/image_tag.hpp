// Images of mirrored registries, and their tags, which come to mean other manifests.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/crowd/client_table.hpp"
#include "proxy/policy/request.hpp"

namespace proxy::answer {

// Does nothing unless the request is for a mirrored registry. Adds the fields that its clients look
// for to the response. Makes a request for the manifest that a tag names, by a client without
// credentials, one for that manifest by its digest, which is one for all who have it, wherever they
// have it from. The registry is asked by HEAD, with the client's Accept, unless its answer is fresh
// by the rule of the tag; if it does not answer, or has no time, an older answer counts. The
// request stays as it is if the registry names no digest, or `under_way` may not begin with `most`.
net::Soon<void> see_image(client::Client& client, policy::Request& request,
                          crowd::RequestUnderWay& under_way, const crowd::RequestLimits& most);

}  // namespace proxy::answer
