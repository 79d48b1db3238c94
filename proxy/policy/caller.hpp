// Who asks, and on which terms: plain values, made once for each request.
#pragma once

#include <cstdint>
#include <memory>

#include "config/networks.hpp"
#include "proxy/cache/stored_name.hpp"
#include "proxy/http/head.hpp"
#include "proxy/mirrors/mirrored_url.hpp"

namespace peers {
struct Peer;
}

namespace proxy::policy {

struct Mapping;
struct Policy;

// The door by which a request enters.
enum class Door : std::uint8_t {
  network,  // a listening socket, for everybody
  late,     // likewise, while the proxy drained: one request, for our own pages
  control,  // the control socket: whoever may open it is an admin, and reaches our own pages alone
};

// The roles that a client has by the settings, with what proves them. One client may have several.
struct Caller {
  enum class Proof : std::uint8_t {
    none,            // the client does not have the role
    peer,            // its address is that of a neighbour (setting peers)
    network,         // its address is in access.peers, or for an admin in access.admin
    badge,           // its browser is signed in (pages/badges.hpp)
    control_socket,  // it came by this door
  };
  Proof neighbour = Proof::none;
  Proof admin = Proof::none;
  bool is_monitor = false;     // access.monitor
  bool may_be_client = false;  // access.clients or a rule lets it use the proxy for some requests
  // Which neighbour, by Proof::peer. Null: several have this address.
  std::shared_ptr<const peers::Peer> peer = nullptr;

  [[nodiscard]] bool is_neighbour() const { return neighbour != Proof::none; }
  [[nodiscard]] bool is_admin() const { return admin != Proof::none; }

  bool operator==(const Caller&) const = default;
};

// The roles that address and door prove. A badge is the pages' business. Pure.
Caller caller_of(const Policy& policy, const config::Address& address, Door door = Door::network);

// The proxy that has forwarded a request, as far as its fields tell.
enum class Relay : std::uint8_t {
  none,
  proxy,
  squid,  // none: a Squid names itself in its own request for our digest
};
// Pure.
Relay relay_of(const http::Fields& fields);

// The role in which the client uses this proxy. It decides whether client or settings choose the
// origin.
enum class Arrival : std::uint8_t {
  forward,  // a proxy: the request's target is the origin's URL
  reverse,  // the origin: the settings name the real one, or the request is for our own pages
  mirror,   // a gateway: the path names the origin (mirrors/mirrored_url.hpp)
};

// Which of our own pages a request may mean.
enum class OwnPages : std::uint8_t {
  none,           // the client means another server
  at_our_socket,  // a mapping covers the host: those at an address or name of ours with our port
  at_any_name,    // likewise, but only the mapping "*" covers it: also those for neighbours
  all,
};

// The rights of a request, which follow from its arrival.
struct Terms {
  // The client chooses the origin. So access rules judge its choice, and the settings do not.
  bool chooses_origin = true;
  // Routes lead to the origin: parents, or the server that the target names.
  bool uses_parents = true;
  // A user may sign in with Proxy-Authorization, which clients of an origin do not send.
  bool may_sign_in = true;
  // A badge counts. The pages of a mapped site have the same origin, and would act with it.
  bool may_show_badge = true;
  OwnPages own_pages = OwnPages::none;
  // The space of names that the response is stored in: Space::gateway for a mapping that is not
  // shared with neighbours, else Space::web.
  cache::Space space = cache::Space::web;
  // How the path stands for the URL of another server. Unless this is `no`, only hosts of the
  // setting mirrors.hosts may be chosen, by GET and HEAD alone.
  mirrors::Mirrored mirrored = mirrors::Mirrored::no;

  bool operator==(const Terms&) const = default;
};

// `mapping`: of the host, for Arrival::reverse; null: there is none. Pure.
Terms terms_of(Arrival arrival, const Mapping* mapping);

}  // namespace proxy::policy
