#include "proxy/explain/whom.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "proxy/lookup/what_to_ask.hpp"
#include "proxy/sources/neighbour.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/whom_to_ask.hpp"

namespace proxy {
namespace {

using cache::Action;
using Claim = peers::PeerDirectory::Claim;
using Steady = std::chrono::steady_clock;

// As fill_from_neighbours() asks: guests neither for parts nor for what is stale here.
struct Search {
  const Request& request;
  const peers::FirstByte origin;
  const Budget budget;
  const bool guests;
};

double in_ms(std::chrono::microseconds time) {
  return static_cast<double>(time.count()) / 1000;
}

std::string too_slow(const peers::FirstByte& takes, const Budget& budget) {
  const auto most = budget.longest.value_or(Budget::Time(0));
  return fmt::format(
      "it takes {:.1f} ms to the first byte, more than the {:.1f} ms that fit the "
      "origin's time (setting digest.prefer)",
      in_ms(takes.mean()), in_ms(most));
}

std::string why_without_claim(const Claim& claim) {
  if (claim.claims) return "its digest does not claim this";
  if (claim.state == peers::PeerState::off) return "its digest is off (setting digest of the peer)";
  return "no digest of it is in use";
}

// By the rules of Candidates, of one that claims the key and may be asked.
void judge_standing(const Search& search, const peers::Peer& peer, PeerFacts& facts) {
  const auto standing = peer.accuracy.standing();
  switch (whether_to_ask(standing, search.budget, Steady::now())) {
    case Ask::yes:
      facts.asks = Asks::yes;
      return;
    case Ask::on_trial:
      facts.asks = Asks::on_trial;
      facts.why = standing.on_probation
                      ? fmt::format("it is on trial ({}): one request at a time asks it",
                                    peers::to_string(peer.accuracy.probation().reason()))
                      : "it was too slow a while ago: one request at a time tries it";
      return;
    case Ask::no:
      facts.asks = Asks::if_origin_fails;
      facts.why = too_slow(standing.first_byte, search.budget);
  }
}

void judge_claim(const Search& search, const Claim& claim, PeerFacts& facts) {
  const auto& peer = *claim.peer;
  if (!claim.claims.value_or(false)) {
    facts.why = why_without_claim(claim);
  } else if (peer.accuracy.resting(Steady::now())) {
    facts.why = fmt::format("it rests ({})", peers::to_string(peer.accuracy.probation().reason()));
  } else if (claim.denied) {
    facts.why = "it has denied that it holds this, and its digest is the same since";
  } else if (const auto barred = why_barred(peer, search.request, search.guests)) {
    facts.why = barred == Barred::guest
                    ? "a guest is not asked for a part, nor for what is stale here"
                    : "its settings `for` and `not_for` leave out this host";
  } else {
    judge_standing(search, peer, facts);
  }
}

// Why neighbours are not asked whatever they claim.
std::string why_no_neighbours(const ServeAccess& access, const Request& request,
                              const Lookup& lookup) {
  if (request.policy().directory->peers().empty()) return "there are none (setting peers)";
  if (answers_from_cache(lookup)) return "the cache answers";
  if (lookup.verdict.action == Action::refuse) return "nobody is asked";
  if (lookup.verdict.action == Action::pass) return "the request is forwarded as it is";
  if (!request.may_be_shared()) {
    return "the response is not kept under its URL alone (reverse without share, or drop_query)";
  }
  if (!may_ask_neighbours(access.cache().fills, lookup.key, request)) {
    return "it was purged or changed lately, and neighbours may still hold the old response";
  }
  // Missing blocks are asked of neighbours run by run (blocks/fetch_run.hpp).
  const bool in_blocks = lookup.verdict.action == Action::complete;
  if (in_blocks || asks_siblings(access.fetching, request, lookup, lookup.verdict)) return {};
  return "only the origin can answer this";
}

void note_owner(const ServeAccess& access, const Search& search, const Lookup& lookup,
                Explanation& explanation) {
  const bool claimed = std::any_of(explanation.peers.begin(), explanation.peers.end(),
                                   [](const auto& peer) { return peer.asks != Asks::no; });
  if (claimed || lookup.verdict.part || !may_collapse(search.request)) return;
  const auto neighbour = neighbour_of_site(access.fetching.sources, lookup.key, search.request);
  const auto held = lookup.stored() ? Held::stale : Held::nothing;
  if (!neighbour || !pays(*neighbour, search.request, search.origin, held)) return;
  if (access.cache().fills.recently_unshared(lookup.key, Steady::now())) return;
  explanation.owner = neighbour->name;
}

std::string url_of(bool tls, const std::string& host, std::uint16_t port) {
  const bool six = host.find(':') != host.npos;
  return fmt::format("{}://{}{}{}:{}", tls ? "https" : "http", six ? "[" : "", host, six ? "]" : "",
                     port);
}

std::string server_of(const Request& request) {
  if (request.is_connect()) return std::string(request.target.authority());
  const auto at = origin_of(request.target, request.policy().lists);
  return url_of(at.tls, at.host, at.port);
}

void note_origin(const Request& request, OriginFacts& origin) {
  if (const auto* const mapping = request.mapping()) {
    for (const auto& to : mapping->to) origin.servers.push_back(url_of(to.tls, to.host, to.port));
    return;
  }
  const auto route = route_of(request);
  for (const auto number : route.order) origin.parents.push_back((*route.parents)[number].name);
  if (route.direct) origin.servers.push_back(server_of(request));
}

}  // namespace

void explain_tunnel(const Request& request, Explanation& explanation) {
  explanation.no_neighbours = "a tunnel leads to one server";
  note_origin(request, explanation.origin);
}

void explain_whom(const ServeAccess& access, const Request& request, const Lookup& lookup,
                  Explanation& explanation) {
  const auto& policy = request.policy();
  const auto takes = origin_takes(access.fetching.sources, request);
  const Search search{request, takes, budget_against(takes, policy.settings.digest.prefer),
                      !lookup.verdict.part && !lookup.stored()};
  if (takes.measured()) explanation.origin.takes = takes.mean();
  if (lookup.verdict.action != Action::refuse) note_origin(request, explanation.origin);
  explanation.no_neighbours = why_no_neighbours(access, request, lookup);
  auto rule = digest::mark_of(request.facts.rule);
  const bool asks_for_parts = lookup.verdict.part || lookup.verdict.action == Action::complete;
  if (rule == 0 && asks_for_parts) rule = digest::kOfPart;
  for (const auto& claim : policy.directory->claims_of(lookup.key, Steady::now(), rule)) {
    PeerFacts facts{.name = claim.peer->name,
                    .state = std::string(peers::to_string(claim.state)),
                    .claims = claim.claims,
                    .asks = Asks::no,
                    .why = {}};
    if (explanation.no_neighbours.empty()) {
      judge_claim(search, claim, facts);
    } else {
      facts.why = explanation.no_neighbours;
    }
    explanation.peers.push_back(std::move(facts));
  }
  if (explanation.no_neighbours.empty()) note_owner(access, search, lookup, explanation);
}

}  // namespace proxy
