#include "proxy/fetching/lookup.hpp"

#include "proxy/blocks/presence.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/sources/neighbour.hpp"
#include "proxy/sources/origin.hpp"

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
  return access.cache().is_for_disk(lookup.key);
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
    // that finds them under way can only wait for them. With only-if-cached it does not wait.
    const bool only_joined =
        cache::strong_validator(*lookup.stored()).empty() && !request.facts.control.only_if_cached;
    lookup.found.lacks = lookup.presence == blocks::Presence::missing ||
                         (lookup.presence == blocks::Presence::under_way && !only_joined);
  }
  // The clock is read here and not before the search, because the disk may have taken a while.
  lookup.verdict = cache::judge(request.facts, lookup.found, access.clock().now());
  // It may have been stored while the settings let neighbours have it (mirrors.share).
  const auto& facts = request.facts;
  const bool is_kept_back = facts.control.only_if_cached &&
                            (facts.from_proxy || facts.from_neighbour) && !request.may_be_shared();
  if (is_kept_back && answers_from_cache(lookup)) {
    lookup.verdict = {Action::refuse, Forward::uri_miss};
  }
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

sources::Allowed allowed_for(const blocks::FetchAccess& access, const policy::Request& request,
                             const Lookup& lookup, const cache::Verdict& how) {
  auto& fills = access.cache().fills;
  const auto now = access.clock().steady();
  const auto& name = request.stored_as();
  sources::Miss miss{request, how, lookup.stored().get(), lookup.anew};
  miss.in_blocks = how.part && blocks_around(access, request, lookup);
  miss.unshared = fills.recently_unshared(lookup.key, now);
  // The rest decides whom to ask, if there is anybody.
  if (request.policy().directory->peers().empty()) return sources::allowed_for(miss);
  miss.unshared_path = access.sources.shared.unshared_paths.has(name, now);
  miss.changed_lately = fills.recently_invalidated(lookup.key, name, now);
  miss.asked_before = access.cache().was_asked_before(lookup.key);
  miss.now = access.clock().now();
  if (miss.stored) miss.origin = sources::origin_takes(access.sources, request, now);
  return sources::allowed_for(miss);
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
