// One page of our own: a row of the table in own_pages.cpp.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/client/client.hpp"
#include "proxy/client/request_body.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

// Who may ask for a page, besides the admins (setting access.admin), who may ask for every page.
enum class Readers : std::uint8_t {
  neighbours,  // settings peers and access.peers
  monitors,    // setting access.monitor
  admins,
};

// What a page does, and so what it needs of a request.
enum class Effect : std::uint8_t {
  read,    // GET, HEAD or OPTIONS
  change,  // changes state or is expensive: POST, admins only, with X-Hearsay: 1
};

// Whether a request may have come through another proxy, as far as its fields tell. A browser or a
// neighbour must not be used to read what its user may not.
enum class Way : std::uint8_t { direct, through_proxies };

// What the Host field has to name. Another site's page can make a name of its own point at us (DNS
// rebinding), so that pages for people want our address or a name of ours.
enum class HostNames : std::uint8_t { us, anybody };

// Whose the path is where a reverse mapping covers the request's host.
enum class WhereMapped : std::uint8_t {
  theirs,              // the origin's
  ours_at_our_socket,  // ours where the Host is an address or name of ours with our port
  ours_at_any_name,    // and also where only the mapping "*" covers the host: for neighbours
};

struct OwnPage {
  // Answers a request that may have the page.
  using Answer = net::Task<void> (*)(Client& client, const Request& request, RequestBody& body);

  std::string_view path = {};  // without the query
  Effect effect = Effect::read;
  Readers readers = Readers::monitors;
  Way way = Way::direct;
  HostNames host = HostNames::us;
  WhereMapped mapped = WhereMapped::ours_at_our_socket;
  Answer answer = nullptr;
  std::string_view about = {};  // for the index, which leaves out a page without it
};

}  // namespace proxy
