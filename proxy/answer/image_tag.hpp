// Images of mirrored registries, and their tags, which come to mean other manifests.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/crowd/client_table.hpp"
#include "proxy/policy/request.hpp"

namespace proxy::answer {

// Does nothing unless the request is for a mirrored registry. Adds to the response the fields that
// clients of registries look for.
//
// If a client without credentials asks for a manifest by a tag, changes the request into one for
// that manifest by its digest, under which it is the same from whatever registry. To find the
// digest, asks the registry by HEAD, with the client's Accept, unless the registry's last answer is
// fresh by the rule of the tag. If the registry does not answer, or is overloaded, an older answer
// counts. The request stays as it is if the registry names no digest, or `under_way` may not begin
// with `most`.
net::Soon<void> see_image(client::Client& client, policy::Request& request,
                          crowd::RequestUnderWay& under_way, const crowd::RequestLimits& most);

}  // namespace proxy::answer
