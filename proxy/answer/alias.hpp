// Names of this proxy that its settings do not know.
#pragma once

#include "proxy/client/client.hpp"

namespace proxy::policy {
struct Request;
}

namespace proxy::answer {

// A machine that has this proxy as its proxy, too, asks it for its own mirrors in the form for a
// proxy. If it means us by an alias, which leads to sockets of ours alone, the request becomes one
// for the mirror. Does nothing for any other request (client::may_be_by_alias()).
net::Soon<void> see_alias(client::Client& client, policy::Request& request);

}  // namespace proxy::answer
