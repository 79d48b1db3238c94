#include "proxy/explain/explain.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "config/text.hpp"
#include "proxy/client/arrival.hpp"
#include "proxy/explain/stored_elsewhere.hpp"
#include "proxy/fetching/lookup.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/sources/claimant_search.hpp"
#include "proxy/sources/known_tags.hpp"
#include "proxy/sources/origin.hpp"

namespace proxy::explain {

using cache::Action;
using net::Task;

namespace {

using Claim = peers::PeerDirectory::Claim;
using Peeked = inspect::Peeked;

// What a browser would do with such a URL depends on how it is set up. Where a mapping covers the
// host by name, it most likely reaches us as the server.
bool asks_us_as_server(const policy::Policy& policy, const http::Target& target) {
  const auto* const mapping = policy.gateway.find(target.host(), target.port());
  const bool is_http = target.form() == http::Target::Form::absolute && !target.https();
  return mapping && is_http && (!mapping->any_host || !policy.serves_forward);
}

bool is_absolute(const http::HeadResult<http::Target>& target) {
  return target && target->form() == http::Target::Form::absolute;
}

// Method and target, as a client sends them. Without a method: clients tunnel https, and get
// everything else.
std::pair<std::string, std::string> line_of(const Hypothesis& asked) {
  // By GET, since a URL is no target of CONNECT (RFC 9112 3.2.3).
  const auto url = http::parse_target("GET", asked.url);
  const bool is_url = is_absolute(url);
  std::string method = !asked.method.empty()    ? asked.method
                       : is_url && url->https() ? "CONNECT"
                                                : "GET";
  if (method != "CONNECT" || !is_url) return {std::move(method), asked.url};
  std::string to(url->authority());
  if (url->port() == (url->https() ? 443 : 80)) to += fmt::format(":{}", url->port());
  return {std::move(method), std::move(to)};
}

// Writes the request to `text`, which the result refers to.
boost::system::result<std::unique_ptr<policy::Request>, NoRequest> imagine(
    const policy::Policy& policy, const Hypothesis& asked, std::string& text) {
  const auto [method, to] = line_of(asked);
  const auto target = http::parse_target(method, to);
  if (method == "CONNECT" ? !target : !is_absolute(target)) {
    return NoRequest{"expected a URL like http://example.com/a"};
  }
  const auto named = asks_us_as_server(policy, *target) ? target->path() : std::string_view(to);
  text = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n\r\n", method, named, target->authority());
  auto request = policy::parse_request(text, {});
  if (request) return std::move(*request);
  return NoRequest{"this proxy would take no such request: " +
                   std::string(http::text(request.error()))};
}

// Whether the client may, as answer() asks.
Explanation::Refused why_refused(const client::Client& client, const policy::Request& request,
                                 const std::string& user) {
  auto asker = client::asker_of(client);
  std::optional<policy::NoAccess> no_access;
  const auto* const rule = policy::deciding_rule(asker, request);
  if (rule && rule->has_users()) {
    no_access = policy::check_sign_in(asker, request, *rule);
    asker.user = user;
  }
  if (!no_access) no_access = policy::check_access(asker, request);
  if (no_access) return {policy::text_of(*no_access), policy::status_of(no_access->why)};
  const bool is_offline = request.is_connect() && request.facts.offline;
  return is_offline ? Explanation::Refused{std::string(policy::kOfflineText), 504}
                    : Explanation::Refused{};
}

std::string text_of(config::ResponseClass kind, const cache::FreshnessBounds& bounds) {
  using Kind = config::ResponseClass;
  switch (kind) {
    case Kind::immutable:
      return "immutable";
    case Kind::fresh:
      return "fresh for " + config::rough_text(bounds.least);
    case Kind::revalidate:
      return "revalidate";
    case Kind::pass:
      return "pass";
    case Kind::absent:
      return "absent";
    case Kind::told:
      break;
  }
  return "";
}

void write_rule(const policy::Request& request, Explanation::Asked& asked) {
  const auto* const rule = request.rule();
  if (!rule) return;
  asked.rule = rule->word();
  asked.of_rule[0].second = rule->recipe();
  asked.of_rule[1].second = text_of(rule->response_class(), request.facts.freshness);
  asked.of_rule[2].second = rule->content_name(request.target).value_or("");
}

// What is known without a look at the cache.
Explanation explanation_of(const client::Client& client, const policy::Request& request,
                           const std::string& user) {
  Explanation explanation;
  explanation.asked.url = request.target.url();
  explanation.asked.method = request.head.method;
  explanation.asked.client = client.address_text;
  explanation.asked.user = user;
  explanation.asked.reverse = !request.terms().chooses_origin;
  explanation.own_page = request.terms().own_pages == policy::OwnPages::all;
  explanation.tunnel = request.is_connect();
  if (explanation.own_page) return explanation;
  write_rule(request, explanation.asked);
  explanation.refused = why_refused(client, request, user);
  return explanation;
}

// The freshness that the response states, or that the heuristic gives it, without the bounds of the
// settings. Nothing: its head cannot be read.
std::optional<cache::Freshness> told_freshness(const cache::Entry& entry, http::Targets targets) {
  // It has been stored, so it was within the limits that held at the time.
  constexpr auto kNoLimit = std::numeric_limits<std::size_t>::max();
  std::string text = std::string(entry.head()) + "\r\n";
  const auto head = http::parse_response_head(text, {kNoLimit, kNoLimit});
  if (!head) return std::nullopt;
  const auto control = http::response_cache_control(head->fields, targets);
  return cache::freshness_of(*head, control, entry.times().response);
}

void write_stored(const policy::Request& request, const Peeked& peeked, Explanation& explanation) {
  const auto targets = sources::targets_for(request, request.policy().settings.cache);
  for (const auto& one : peeked.all) {
    StoredResponse stored{one.entry, one.facts, one.entry == peeked.found.entry, {}};
    const auto told = told_freshness(*one.entry, targets);
    if (told && told->lifetime != one.entry->freshness().lifetime) {
      stored.told_lifetime = told->lifetime;
    }
    explanation.cached.stored.push_back(std::move(stored));
  }
  explanation.cached.more_on_disk = peeked.varies_there;
}

bool would_join(const client::ServeAccess& access, const policy::Request& request,
                const fetching::Lookup& lookup) {
  const auto action = lookup.verdict.action;
  const bool fetches = action == Action::fetch || action == Action::revalidate;
  return fetches && fetching::allowed_for(access.fetching, request, lookup).share &&
         access.cache().fills.under_way(lookup.key, request.stored_as(), lookup.asked);
}

void write_verdict(const client::ServeAccess& access, const policy::Request& request,
                   const fetching::Lookup& lookup, Explanation& explanation) {
  explanation.now = access.clock().now();
  explanation.ahead = access.clock().ahead();
  explanation.cached.key = fmt::format("{:02x}", fmt::join(lookup.key.bytes, ""));
  explanation.cached.stored_as = request.stored_as();
  explanation.cached.for_neighbours = request.may_be_shared();
  explanation.cached.verdict = lookup.verdict;
  explanation.offline = request.facts.offline;
  explanation.cached.fetching = would_join(access, request, lookup);
}

double in_ms(std::chrono::microseconds time) {
  return static_cast<double>(time.count()) / 1000;
}

std::string why_without_claim(const Claim& claim) {
  if (claim.claims) return "its digest does not claim this";
  if (claim.state == peers::PeerState::off) return "its digest is off (setting digest of the peer)";
  return "no digest of it is in use";
}

std::string why_on_trial(const peers::Peer& peer) {
  const auto& probation = peer.accuracy.probation();
  return probation.on() ? fmt::format("it is on trial ({})", peers::to_string(probation.reason()))
                        : "it was too slow a while ago";
}

// What the plan makes of a neighbour that it has as a candidate.
void write_place(const sources::ChoicePlan::Given& plan, sources::Prospect place,
                 const peers::Peer& peer, PeerFacts& facts) {
  using sources::Prospect;
  facts.asks = plan.route ? Asks::if_origin_fails : Asks::no;
  switch (place) {
    case Prospect::in_line:
      facts.asks = Asks::yes;
      if (sources::origin_comes_first(peer.accuracy.answers(), plan.budget))
        facts.why = "the origin's time is unknown, so it is asked at once, too";
      return;
    case Prospect::tried:
      facts.asks = Asks::on_trial;
      facts.why = why_on_trial(peer) + ": it is tried beside the next source";
      return;
    case Prospect::other_trial:
      facts.why = why_on_trial(peer) + ", and another trial goes before it";
      return;
    case Prospect::no_hedge:
      facts.why = why_on_trial(peer) + ", and too many requests ask two sources";
      return;
    case Prospect::no_origin:
      facts.why = why_on_trial(peer) + ", and is tried only where the origin is asked, too";
      return;
    case Prospect::too_slow:
      facts.why = fmt::format(
          "it takes {:.1f} ms to the first byte, more than the {:.1f} ms that fit the "
          "origin's time (setting digest.prefer)",
          in_ms(peer.accuracy.first_byte().mean()),
          in_ms(plan.budget.longest.value_or(sources::Budget::Time(0))));
  }
}

// Whether the neighbour counts as a claimant (PeerDirectory::claimants()).
bool counts_as_claimant(const Claim& claim, peers::SteadyTime now) {
  return claim.claims.value_or(false) && !claim.peer->accuracy.resting(now) && !claim.denied;
}

std::string why_not_asked(const Claim& claim, const sources::ClaimantSearch::For& wanted,
                          peers::SteadyTime now) {
  const auto& peer = *claim.peer;
  if (!claim.claims.value_or(false)) return why_without_claim(claim);
  if (peer.accuracy.resting(now))
    return fmt::format("it rests ({})", peers::to_string(peer.accuracy.probation().reason()));
  if (claim.denied) return "it has denied that it holds this, and its digest is the same since";
  return sources::why_barred(peer, wanted.request, wanted.allowed) == sources::Barred::guest
             ? "a guest is not asked for a part, nor for what is stale here"
             : "its settings `for` and `not_for` leave out this host";
}

bool is_in_blocks(const fetching::Lookup& lookup) {
  return lookup.verdict.action == Action::complete && lookup.stored()->is_object();
}

// What is asked of neighbours: the response, or the missing blocks of an object, run by run.
sources::Allowed allowed_for(const client::ServeAccess& access, const policy::Request& request,
                             const fetching::Lookup& lookup) {
  if (!is_in_blocks(lookup)) return fetching::allowed_for(access.fetching, request, lookup);
  const auto now = access.clock().steady();
  return {.only_origin = sources::why_only_origin(access.cache().fills, lookup.key, request, now)};
}

// Why neighbours are not asked whatever they claim.
std::string why_no_neighbours(const fetching::Lookup& lookup, const sources::Allowed& allowed) {
  using sources::OnlyOrigin;
  if (allowed.only_origin == OnlyOrigin::no_neighbours) return "there are none (setting peers)";
  if (fetching::answers_from_cache(lookup)) return "the cache answers";
  if (lookup.verdict.action == Action::refuse) return "nobody is asked";
  if (lookup.verdict.action == Action::pass) return "the request is forwarded as it is";
  if (allowed.only_origin == OnlyOrigin::another_name)
    return "the response is not kept under its URL alone (reverse without share, or drop_query)";
  if (allowed.only_origin == OnlyOrigin::unshared_https)
    return "https URLs are kept from neighbours (setting mirrors.share)";
  if (allowed.only_origin == OnlyOrigin::changed_lately)
    return "it was purged or changed lately, and neighbours may still hold the old response";
  return allowed.neighbours() ? "" : "only the origin can answer this";
}

std::string url_of(bool tls, const std::string& host, std::uint16_t port) {
  return fmt::format("{}://{}", tls ? "https" : "http", config::to_text({host, port}));
}

void write_origin(const policy::Request& request, OriginFacts& origin) {
  if (const auto* const mapping = request.mapping()) {
    for (const auto& to : mapping->to) origin.servers.push_back(url_of(to.tls, to.host, to.port));
    return;
  }
  const auto route = sources::route_of(request);
  for (const auto number : route.order) origin.parents.push_back((*route.parents)[number].name);
  if (!route.direct) return;
  if (request.is_connect()) {
    origin.servers.emplace_back(request.target.authority());
  } else {
    const auto at = sources::origin_of(request.target, request.policy().lists);
    origin.servers.push_back(url_of(at.tls, at.host, at.port));
  }
}

// A plan that is never carried out.
sources::Attempt no_question(const upstream::Route& /*route*/) {
  throw std::logic_error("an explanation asks nobody");
}

// Fills in no_neighbours, peers, owner and origin. Asks the plan of choice, made of the same facts
// as that of a miss. The verdict of `lookup` is that of the explanation.
void write_whom(const client::ServeAccess& access, const policy::Request& request,
                const fetching::Lookup& lookup, Explanation& explanation) {
  auto& sources = explanation.sources;
  const auto now = access.clock().steady();
  sources::ClaimantSearch::For wanted{
      .key = lookup.key, .request = request, .allowed = allowed_for(access, request, lookup)};
  // Blocks are asked for at the origin only once no neighbour has them.
  if (!is_in_blocks(lookup)) wanted.origin = no_question;
  auto rule = digest::mark_of(request.facts.rule);
  const bool asks_for_parts = lookup.verdict.part || lookup.verdict.action == Action::complete;
  if (rule == 0 && asks_for_parts) rule = digest::kOfPart;
  // Not claimants(), which counts what it finds: to explain must change no figure.
  const auto claims = request.policy().directory->claims_of(lookup.key, now, rule);
  peers::Claimants claimants;
  for (const auto& claim : claims)
    if (counts_as_claimant(claim, now)) claimants.push_back(claim.peer);
  const auto plan = sources::ClaimantSearch::given_for(access.fetching.sources, wanted,
                                                       std::move(claimants), now);
  if (plan.origin_takes.measured()) sources.origin.takes = plan.origin_takes.mean();
  if (lookup.verdict.action != Action::refuse) write_origin(request, sources.origin);
  sources.no_neighbours = why_no_neighbours(lookup, wanted.allowed);
  const bool of_site = plan.candidates.lead() == sources::Lead::site;
  for (const auto& claim : claims) {
    PeerFacts facts{.name = claim.peer->name,
                    .state = std::string(peers::to_string(claim.state)),
                    .claims = claim.claims,
                    .asks = Asks::no,
                    .why = sources.no_neighbours};
    const auto place = prospect_of(claim.peer, plan, access.fetching.sources.hedges);
    if (sources.no_neighbours.empty()) {
      if (place && !of_site)
        write_place(plan, *place, *claim.peer, facts);
      else
        facts.why = why_not_asked(claim, wanted, now);
      if (place && of_site) sources.owner = claim.peer->name;
    }
    sources.peers.push_back(std::move(facts));
  }
}

// Since when the manifest is held, and since when the tag is known to name it.
std::string text_of(const sources::KnownTag& known, const Peeked& peeked, machine::Clock& clock) {
  if (!known.answer || known.answer->text.empty()) return known.tag + " names no known digest";
  std::string since = "not held";
  if (const auto& entry = peeked.found.entry) {
    const auto at = std::chrono::system_clock::to_time_t(clock.shown(entry->times().response));
    since = fmt::format("held since {:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(at));
  }
  const auto ago = std::chrono::floor<cache::seconds>(clock.steady() - known.answer->asked);
  const auto names = known.tag + " names " + known.answer->text;
  return names + ", " + since + ", checked " + config::rough_text(ago) + " ago";
}

}  // namespace

Task<Explained> explain(client::Client& asker, Hypothesis asked) {
  auto& access = asker.access;
  const policy::PinnedPolicy pinned = access.policy;
  // A mistyped name would get the answer for a user whom no rule names.
  const bool is_known = pinned->users && pinned->users->hash_of(asked.user);
  if (!asked.user.empty() && !is_known) {
    co_return Explained(NoRequest{"the file of access.users has no such user"});
  }
  std::string text;
  const auto imagined = imagine(*pinned, asked, text);
  if (!imagined) co_return Explained(imagined.error());
  auto& request = **imagined;
  // Of its own: the asker's record tells of the page, not of the request that is explained.
  client::ResponseState unsent;
  observe::RequestRecord record;
  const client::Client client{access, asker.response, unsent,
                              record, asked.client,   asked.client_text};
  client::begin_request(client, request);
  const auto tag = sources::resolve_known_tag(access.fetching.sources, request);
  auto explanation = explanation_of(client, request, asked.user);
  const bool is_refused = !explanation.refused.reason.empty();
  if (explanation.tunnel && !is_refused) {
    explanation.sources.no_neighbours = "a tunnel leads to one server";
    write_origin(request, explanation.sources.origin);
  }
  // No rule of caching applies to either.
  if (explanation.own_page || explanation.tunnel) co_return Explained(std::move(explanation));
  request.write_client_fields(request.policy().settings.gateway.forwarded, asked.client_text);

  auto peeked = co_await access.fetching.cached().peek(request);
  if (peeked.disk_fault) explanation.cached.disk_fault = to_string(*peeked.disk_fault);
  if (tag) explanation.asked.of_rule[3].second = text_of(*tag, peeked.stored, access.clock());
  // Before what was found is moved on.
  write_stored(request, peeked.stored, explanation);
  fetching::Lookup lookup;
  lookup.key = digest::key_of(digest::Method::get, request.stored_as());
  lookup.asked = access.clock().steady();
  lookup.found = std::move(peeked.stored.found);
  fetching::decide(access.fetching, request, lookup);
  co_await find_url_of_body(access.fetching, request, explanation.asked.of_rule[4].second);
  write_verdict(access, request, lookup, explanation);
  if (is_refused) explanation.sources.no_neighbours = "the request is refused";
  if (!is_refused) write_whom(access, request, lookup, explanation);
  co_return Explained(std::move(explanation));
}

}  // namespace proxy::explain
