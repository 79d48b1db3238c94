// The one place that decides how a request arrived.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

// Whether `host` is "localhost", this machine's host name, the setting `name`, or one of
// access.own_names.
bool is_our_name(const Client& client, std::string_view host);

// Whether the target's host and port name a socket that this proxy listens on: by its address, or
// by one of our names.
bool names_own_socket(const Client& client, const http::Target& target);

// Whether the client takes this proxy for the server that the target names: the target is in
// origin-form or asterisk-form, or in absolute-form with the address of a socket of ours.
bool is_for_us(const Client& client, const http::Target& target);

// Sets the request's arrival and, for Arrival::reverse, its mapping, if the settings have one. Call
// this once, before any other use of the request.
void note_arrival(const Client& client, Request& request);

}  // namespace proxy
