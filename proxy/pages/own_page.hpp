// One page of our own: a row of the table in own_pages.cpp.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/client/client.hpp"
#include "proxy/client/request_body.hpp"
#include "proxy/pages/pages_access.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

// The clients that may read a page. Admins may read the pages of all others but operators: clients
// in access.admin, and browsers that are signed in (pages/badges.hpp). What names a URL of a
// client or its address is for admins.
enum class Audience : std::uint8_t {
  neighbours,  // settings peers and access.peers
  monitors,    // setting access.monitor: figures, neighbours and health
  clients,     // whoever may use the proxy
  admins,
  operators,  // who may open the control socket
  anybody,    // whoever can connect
};

// What a page does, which decides the method and the fields that a request needs.
enum class Effect : std::uint8_t {
  read,    // GET, HEAD or OPTIONS
  change,  // changes state or is expensive: POST with X-Hearsay: 1
};

// Whether a request may name a proxy in Via. A proxy may be allowed to read a page that its user
// may not, so no page answers a request that passed a proxy, as far as its fields tell.
enum class Via : std::uint8_t {
  none,
  squids_own,  // a Squid names itself in its own requests for digests
};

// The owner of the path if a reverse mapping covers the request's host.
enum class WhereMapped : std::uint8_t {
  theirs,              // the origin's
  ours_at_our_socket,  // ours if the Host is an address or name of ours with our port
  ours_at_any_name,    // ours also if only the mapping "*" covers the host: for neighbours
};

struct OwnPage {
  // Answers a request that may read the page.
  using Answer = net::Task<void> (*)(const PagesAccess& pages, Client& client,
                                     const Request& request, RequestBody& body);

  std::string_view path = {};  // without the query
  Effect effect = Effect::read;
  Audience readers = Audience::monitors;
  Via via = Via::none;
  WhereMapped mapped = WhereMapped::ours_at_our_socket;
  Answer answer = nullptr;
  std::string_view about = {};  // for the index, which omits pages without this text
};

}  // namespace proxy
