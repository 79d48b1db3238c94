// Which neighbours a search for a key may ask, and what the origin takes.
#pragma once

#include <cstdint>
#include <optional>

#include "peers/directory.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/sources/budget.hpp"

namespace proxy {

struct SourceAccess;

// The time to the first byte of the request's origin, as far as this thread has seen.
peers::FirstByte origin_takes(const SourceAccess& access, const Request& request);

// Why a neighbour is not asked for this request, whatever it claims.
enum class Barred : std::uint8_t {
  guest,  // guests are not asked for a part, nor for what is stale here
  host,   // its settings `for` and `not_for` leave out the host
};
// Nothing: it may be asked. `guests`: whether guests may.
std::optional<Barred> why_barred(const peers::Peer& peer, const Request& request, bool guests);

// The neighbour to ask about a key that nobody claims: its owner or, if that is this proxy, the
// neighbour that has said that it fetches the key. Null: none.
peers::PeerRef neighbour_of_site(SourceAccess& access, const digest::Key& key,
                                 const Request& request);

// Whether a neighbour that claims nothing is worth a question.
bool pays(const peers::Peer& neighbour, const Request& request, const peers::FirstByte& origin,
          Held held);

// Whether neighbours are asked for what none of them claims (setting digest.site_collapse).
bool may_collapse(const Request& request);

}  // namespace proxy
