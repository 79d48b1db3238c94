// The caller of a request and the way of its arrival: what all rules about a request need.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/mirrors/answer_head.hpp"
#include "proxy/policy/access.hpp"
#include "proxy/policy/request.hpp"

namespace proxy::client {

// Completes a request that has just been read: its policy, how it arrived, who sends it, the rule
// of its site, and its facts. Call this once, before any other use of the request.
void begin_request(const Client& client, policy::Request& request);

// The part of begin_request() that decides how a request arrived: sets its terms, its mapping if it
// has one, and its caller if rules ask for it (Request::caller). The policy is pinned already.
void record_arrival(const Client& client, policy::Request& request);

// Whether the request, in the form for a proxy, may mean us by a name that the settings do not
// know: it is for a path of a mirror, at a port of ours. Never for a browser: any site can make its
// own name point at us.
bool may_be_by_alias(const Client& client, const policy::Request& request);
// Call this once the name of such a request has proved to lead to a socket of ours: the request
// arrives as it would without a proxy.
void arrive_by_alias(const Client& client, policy::Request& request);

// Under which recipe a client's request counts; empty: it is for no mirror.
std::string_view recipe_of(const policy::Request& request);

// Where the client finds the mirrored server that it asks for. `request`: has arrived as one for a
// mirror.
mirrors::Place place_of(const policy::Request& request);

// Whether the client's address is that of a neighbour: for a request that could not be read.
bool is_of_neighbour(const Client& client);

// The client as the rules of access see it.
policy::AccessAsker asker_of(const Client& client);

// Whether `host` is "localhost", this machine's host name, the setting `name`, or one of
// access.own_names.
bool is_our_name(const Client& client, std::string_view host);

// Whether the target's host is an address, a name of ours or missing. Ignores the port. A page of
// another site can make its own name point at us (DNS rebinding), but not an address.
bool names_us(const Client& client, const http::Target& target);

// Whether the target's host and port name a socket that this proxy listens on: by its address, or
// by one of our names.
bool names_own_socket(const Client& client, const http::Target& target);

// Whether the client takes this proxy for the server that the target names: the target is in
// origin-form or asterisk-form, or in absolute-form with the address of a socket of ours.
bool is_for_us(const Client& client, const http::Target& target);

}  // namespace proxy::client
