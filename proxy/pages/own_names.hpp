// Whether a request names this proxy as its server.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/http/target.hpp"

namespace proxy {

// Whether we are the server that the target names: in origin-form, or in absolute-form with the
// address or a name of ours, and a port of ours.
bool is_for_us(const Client& client, const http::Target& target);

// Whether the host and port are a listening socket of ours, by its address or a name of ours.
bool names_own_socket(const Client& client, const http::Target& target);

// Whether the host is an address, a name of ours or missing, whatever the port. Another site's page
// can make a name of its own lead to us (DNS rebinding), but not an address.
bool names_us(const Client& client, const http::Target& target);

}  // namespace proxy
