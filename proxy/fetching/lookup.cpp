#include "proxy/fetching/lookup.hpp"

#include "proxy/blocks/presence.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/sources/neighbour.hpp"
#include "proxy/tiers/tiers.hpp"

namespace proxy::fetching {

using cache::Action;
using http::Forward;

namespace {

// Whether the origin must see the request's Range as it came: the request signs it, or the origin
// is known to refuse ranges of our own.
bool keeps_its_range(const blocks::FetchAccess& access, const policy::Request& request) {
  if (request.facts.signs_range) return true;
  const auto now = access.clock().steady();
  return access.range_refusals.has(request.target.authority(), now);
}

// Only what has a strong validator is kept in blocks.
blocks::KnownObject known_of(const Lookup& lookup) {
  const auto& stored = lookup.stored();
  if (!stored || cache::strong_validator(*stored).empty()) return {};
  const bool begun = stored->is_object() && stored->is_part();
  return {begun ? stored->body.size : 0, cache::complete_length(*stored)};
}

bool wants_blocks(const blocks::FetchAccess& access, const Lookup& lookup) {
  const auto& verdict = lookup.verdict;
  if (!verdict.part || verdict.action == Action::complete) return false;
  return tiers::is_for_disk(access.cache(), lookup.key);
}

// The blocks to ask the origin for in place of the part that the client wants.
std::optional<http::AskedRange> blocks_around(const blocks::FetchAccess& access,
                                              const policy::Request& request,
                                              const Lookup& lookup) {
  if (!wants_blocks(access, lookup) || asks_as_it_came(access, request, lookup)) return {};
  return blocks::aligned_to_blocks(request.facts, known_of(lookup));
}

}  // namespace

Lookup begin_anew(Lookup lookup, const policy::Request& request) {
  lookup.found.entry = nullptr;
  lookup.verdict = {Action::fetch, Forward::partial, request.facts.range};
  lookup.anew = true;
  return lookup;
}

void decide(const blocks::FetchAccess& access, const policy::Request& request, Lookup& lookup) {
  lookup.presence = blocks::Presence::stored;
  if (lookup.stored() && lookup.stored()->is_object()) {
    lookup.presence = blocks::presence(access, request, lookup.key, *lookup.stored());
    // Blocks without a strong validator cannot be fetched apart (RFC 9110 15.3.7.3), so a request
    // that finds them under way can only wait for them.
    const bool only_joined =
        cache::strong_validator(*lookup.stored()).empty() && !request.asks_as_sibling();
    lookup.found.lacks = lookup.presence == blocks::Presence::missing ||
                         (lookup.presence == blocks::Presence::under_way && !only_joined);
  }
  // The clock is read here and not before the search, because the disk may have taken a while.
  lookup.verdict = cache::judge(request.facts, lookup.found, access.clock().now());
  // Only a range of our own could complete the stored part.
  if (lookup.verdict.action == Action::complete && keeps_its_range(access, request)) {
    lookup.verdict = {Action::fetch, Forward::partial, request.facts.range};
  }
}

bool answers_from_cache(const Lookup& lookup) {
  return lookup.verdict.action == Action::serve || lookup.verdict.action == Action::refresh;
}

bool is_hit(const Lookup& lookup) {
  if (lookup.verdict.action == Action::complete) {
    return lookup.stored()->is_object() && !lookup.stored()->is_part();
  }
  return lookup.verdict.action == Action::serve;
}

std::optional<http::AskedRange> sibling_range(const blocks::FetchAccess& access,
                                              const policy::Request& request,
                                              const Lookup& lookup) {
  if (!wants_blocks(access, lookup)) return {};
  auto known = known_of(lookup);
  if (!known.length) known.length = cache::kLargestObject;
  return blocks::aligned_to_blocks(request.facts, known);
}

bool asks_as_it_came(const blocks::FetchAccess& access, const policy::Request& request,
                     const Lookup& lookup) {
  return lookup.anew || request.facts.authorization || keeps_its_range(access, request);
}

bool may_share(const blocks::FetchAccess& access, const policy::Request& request,
               const Lookup& lookup) {
  const auto& verdict = lookup.verdict;
  if (request.facts.authorization) return false;
  // A client that wants a fresh copy must not get one that was asked for earlier. With no-cache it
  // gets none: see answer_by_fill().
  const auto& control = request.facts.control;
  const bool waits = control.no_cache && !verdict.part && !request.asks_as_sibling();
  if (verdict.reason == Forward::request && !waits) return false;
  if (!verdict.part) return true;
  return !request.facts.if_range && blocks_around(access, request, lookup);
}

bool sibling_may_answer(const policy::Request& request, const cache::Verdict& verdict) {
  const auto& facts = request.facts;
  const bool simple = !verdict.part || (http::only_range(facts.ranges) && !facts.if_range);
  // No source can supply the missing blocks of an object without a validator. But a neighbour may
  // have the whole object.
  const bool is_miss = verdict.action == Action::fetch &&
                       (verdict.reason == Forward::uri_miss ||
                        verdict.reason == Forward::vary_miss || verdict.reason == Forward::partial);
  const bool is_stale = verdict.action != Action::complete && verdict.reason == Forward::stale;
  return simple && sources::neighbours_may_answer(request) &&
         (is_miss || (is_stale && !verdict.part));
}

bool asks_siblings(const blocks::FetchAccess& access, const policy::Request& request,
                   const Lookup& lookup, const cache::Verdict& verdict) {
  // What the origin has replaced, neighbours may still have.
  if (lookup.anew) return false;
  return sibling_may_answer(request, verdict) &&
         sources::may_ask_neighbours(access.cache().fills, lookup.key, request,
                                     access.clock().steady());
}

std::optional<http::AskedRange> range_override(const blocks::FetchAccess& access,
                                               const policy::Request& request,
                                               const Lookup& lookup) {
  if (auto blocks = blocks_around(access, request, lookup)) return blocks;
  const auto& facts = request.facts;
  const bool resumes = lookup.verdict.part && lookup.verdict.action != Action::complete;
  if (!resumes || !facts.if_range || asks_as_it_came(access, request, lookup)) return std::nullopt;
  return http::only_range(facts.ranges);
}

}  // namespace proxy::fetching
