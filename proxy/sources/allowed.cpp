#include "proxy/sources/allowed.hpp"

#include "proxy/policy/policy.hpp"

namespace proxy::sources {

using cache::Action;
using http::Forward;

namespace {

// Whether a plain GET with only-if-cached would do, for the whole response or for one part. No
// source can supply the missing blocks of an object without a validator, but a neighbour may have
// the whole object. What the origin has replaced, neighbours may still have.
bool siblings_may_have(const Miss& miss) {
  const auto& [action, reason, part] = miss.verdict;
  const auto& facts = miss.request.facts;
  const bool one_part = miss.in_blocks || http::only_range(facts.ranges);
  if (miss.anew || (part && (facts.if_range || !one_part))) return false;
  if (reason == Forward::stale) return action != Action::complete && !part;
  return action == Action::fetch && (reason == Forward::uri_miss || reason == Forward::vary_miss ||
                                     reason == Forward::partial);
}

// A client that wants a fresh copy must not get one that was asked for earlier. With no-cache it
// gets none: see answer_by_fill().
bool may_share(const Miss& miss) {
  const auto& verdict = miss.verdict;
  const auto& request = miss.request;
  if (miss.unshared || request.facts.authorization) return false;
  const bool waits = request.facts.control.no_cache && !verdict.part && !request.asks_as_sibling();
  if (verdict.reason == Forward::request && !waits) return false;
  return !verdict.part || (miss.in_blocks && !request.facts.if_range);
}

OnlyOrigin why_unshared(const policy::Request& request) {
  const bool by_url = request.stored_as() == request.target.url();
  if (!by_url || request.head.fields.any_selects()) return OnlyOrigin::another_name;
  const bool by_setting =
      request.policy().settings.gateway.mirrors.share != config::MirrorShare::anonymous;
  return by_setting ? OnlyOrigin::unshared_https : OnlyOrigin::request;
}

std::optional<OnlyOrigin> why_only_origin(const policy::Request& request, bool changed_lately) {
  const auto& facts = request.facts;
  if (request.policy().directory->peers().empty()) return OnlyOrigin::no_neighbours;
  if (!request.may_be_shared()) return why_unshared(request);
  // RFC 9111 5.2.1.4: a neighbour's copy is as old as our own.
  const auto& bounds = facts.freshness;
  const bool is_always_validated = bounds.by_class && bounds.most == std::chrono::seconds(0);
  const bool wants_fresh = (facts.control.no_cache && !facts.immutable) || is_always_validated;
  if (facts.authorization || wants_fresh) return OnlyOrigin::request;
  return changed_lately ? std::optional(OnlyOrigin::changed_lately) : std::nullopt;
}

}  // namespace

std::optional<OnlyOrigin> why_only_origin(fill::Fills& fills, const digest::Key& key,
                                          const policy::Request& request, peers::SteadyTime now) {
  return why_only_origin(request, fills.recently_invalidated(key, request.stored_as(), now));
}

Allowed allowed_for(const Miss& miss) {
  Allowed allowed{.only_origin = why_only_origin(miss.request, miss.changed_lately)};
  allowed.share = may_share(miss);
  if (allowed.neighbours() && !siblings_may_have(miss)) allowed.only_origin = OnlyOrigin::verdict;
  if (!allowed.neighbours()) return allowed;
  const auto& policy = miss.request.policy();
  const bool whole = !miss.verdict.part;
  const bool stale = miss.stored && miss.verdict.action == Action::revalidate;
  allowed.guests = whole && !miss.stored;
  allowed.of_site = whole && !miss.unshared && !miss.unshared_path &&
                    policy.settings.digest.site_collapse == config::SiteCollapse::automatic;
  // What clients have requested before may have been left with a neighbour, where it grew stale.
  if (stale || miss.asked_before) allowed.held = Held::stale;
  allowed.by_tag = stale && !miss.stored->never_stale;
  if (miss.stored && miss.verdict.reason == Forward::stale)
    allowed.least_freshness =
        least_freshness(miss.stored->freshness().lifetime, miss.stored->ttl(miss.now), miss.origin);
  return allowed;
}

std::optional<Barred> why_barred(const peers::Peer& peer, const policy::Request& request,
                                 const Allowed& allowed) {
  if (!allowed.guests && peer.trust == config::Trust::guest) return Barred::guest;
  if (!request.policy().routes.may_ask(peer.id, request.target)) return Barred::host;
  return std::nullopt;
}

}  // namespace proxy::sources
