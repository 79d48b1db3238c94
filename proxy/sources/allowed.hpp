// Whom a miss may ask besides the origin, and who may have its answer: one place for all rules that
// do not depend on times.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "peers/peer.hpp"
#include "proxy/cache/judge.hpp"
#include "proxy/fill/fills.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/sources/candidates.hpp"

namespace proxy::sources {

// The facts of a miss.
struct Miss {
  const policy::Request& request;
  cache::Verdict verdict;
  const cache::Entry* stored = nullptr;  // the stored response, however stale; null: none
  bool anew = false;                     // what was found is of no use: fetching::begin_anew()
  bool in_blocks = false;                // of a part: the whole blocks around it are asked for
  bool changed_lately = false;           // Fills::recently_invalidated()
  bool unshared = false;                 // Fills::recently_unshared()
  bool unshared_path = false;            // UnsharedPaths::has()
  bool asked_before = false;             // Placement::was_asked_before()
  cache::Time now = {};
  peers::FirstByte origin = {};  // how long it takes
};

// Why no neighbour is asked, whatever it claims.
enum class OnlyOrigin : std::uint8_t {
  no_neighbours,   // the settings name none
  another_name,    // the response is not stored under its URL alone, by which neighbours claim
  unshared_https,  // the setting mirrors.share keeps https URLs from neighbours
  request,         // has credentials, or demands a fresh copy
  changed_lately,  // purged or changed: neighbours may still hold the old response
  verdict,         // wants what no plain GET with only-if-cached would bring
};

struct Allowed {
  // Why neighbours are not asked. Nothing: they are asked.
  std::optional<OnlyOrigin> only_origin = OnlyOrigin::request;
  // Whether guests are asked. They are not asked for parts: parts are joined with bytes of others,
  // which would hide who gave them. Nor for what is stale here: a guest could then keep its own
  // response from being checked for ever.
  bool guests = false;
  // Whether a neighbour of the site that may be fetching the response is asked if none claims it.
  bool of_site = false;
  Held held = Held::nothing;
  // Whether a sibling may say that what is stale here is still current. It may not if the origin
  // wants to be asked itself (RFC 9111 5.2.2.2); a fresher copy of it may take its place.
  bool by_tag = false;
  std::chrono::seconds least_freshness{0};  // of a sibling's copy: see candidates.hpp
  // Whether other requests may wait for this request's fill, and this request for theirs. A request
  // for a part may share if whole blocks may be fetched and the request has no If-Range. A request
  // with no-cache shares only an answer for which the origin is asked after its arrival.
  bool share = false;

  [[nodiscard]] bool neighbours() const { return !only_origin; }
};
Allowed allowed_for(const Miss& miss);  // pure

// Why no neighbour is asked for any part of the response, whatever the verdict: a run of blocks, or
// the rest of a body.
std::optional<OnlyOrigin> why_only_origin(fill::Fills& fills, const digest::Key& key,
                                          const policy::Request& request, peers::SteadyTime now);

// Why one neighbour is not asked for this request, whatever it claims.
enum class Barred : std::uint8_t {
  guest,  // guests are not asked for a part, nor for what is stale here
  host,   // its settings `for` and `not_for` leave out the host
};
// Nothing: it may be asked.
std::optional<Barred> why_barred(const peers::Peer& peer, const policy::Request& request,
                                 const Allowed& allowed);

}  // namespace proxy::sources
