#include "proxy/client/arrival.hpp"

#include <algorithm>
#include <boost/asio/ip/host_name.hpp>

#include "peers/site.hpp"
#include "proxy/http/text.hpp"

namespace proxy::client {
namespace {

// Whether the client may have learned from our digest what is stored. Neighbours and admins may
// read the digest. An admin that is no proxy asks on its own account.
bool may_know_our_digest(const policy::Request& request) {
  const auto& caller = request.caller;
  return caller.is_neighbour() ||
         (request.facts.from_proxy && caller.admin == policy::Caller::Proof::network);
}

// What the rules need to know and the head does not tell.
void add_facts(policy::Request& request) {
  const auto& policy = request.policy();
  auto& facts = request.facts;
  if (policy.settings.cache.offline) facts.offline = true;
  if (!request.asks_as_sibling()) return;
  const auto rule = request.head.fields.only_value(peers::kRuleField);
  facts.asked_rule = peers::parse_epoch(rule).value_or(0);
  facts.from_neighbour = may_know_our_digest(request);
  // A Squid may leave out Via.
  if (request.caller.neighbour == policy::Caller::Proof::peer) facts.from_proxy = true;
}

// The name of the neighbour for whose clients the request is, or its address if several neighbours
// have this address. Empty: the request is not for a neighbour's clients.
std::string neighbour_of(const Client& client, const policy::Request& request) {
  const auto& caller = request.caller;
  // A person at a neighbour's machine is a client like any other.
  if (!client.record.by_proxy || !caller.is_neighbour()) return {};
  return caller.peer ? caller.peer->name : client.address_text;
}

// Whether a browser sends the request, as far as its fields tell. Over plain http it sends no
// Sec-Fetch-Site, and for a page of the same origin no Origin, but always Accept-Language.
bool is_of_browser(const http::Fields& fields) {
  return fields.has(http::field::origin) || fields.has(http::field::accept_language) ||
         fields.find("Sec-Fetch-Site");
}

// Whether the path stands for another server's URL. Not for a page whose own name was made to point
// at us: it gets the refusal of our own pages. Where a mapping covers the host, the path is
// the origin's, unless the client means us by an address or a name of ours.
bool is_at_mirror(const Client& client, const policy::Request& request,
                  const policy::Mapping* mapping) {
  const auto& target = request.target;
  if (!request.policy().rules.recipe_map().mirror_path(target)) return false;  // most requests
  if (!mapping) return names_us(client, target) || !is_of_browser(request.head.fields);
  return !request.policy().mirrored_hosts.empty() &&
         (target.host().empty() || names_own_socket(client, target));
}

// How the request arrived, for record_arrival().
void arrive(const Client& client, policy::Request& request) {
  if (client.door == policy::Door::control) return request.arrive(policy::Arrival::reverse);
  const auto& target = request.target;
  const auto& policy = request.policy();
  const auto* const mapping = policy.gateway.find(target.host(), target.port());
  // Forward and reverse clients use the same listeners, so the target tells them apart. Where
  // nobody may use us as a proxy, the absolute-form too names a host of ours (RFC 9112 3.2.2).
  const bool is_http_url = target.form() == http::Target::Form::absolute && !target.https();
  const bool names_mapped = !policy.serves_forward && mapping && is_http_url;
  if (!names_mapped && !is_for_us(client, target)) return request.arrive(policy::Arrival::forward);
  if (is_at_mirror(client, request, mapping))
    return request.arrive(policy::Arrival::mirror, nullptr, client.registry);
  request.arrive(policy::Arrival::reverse, mapping);
}

// Whether rules ask who sends the request: those for questions, own pages and purges, and the list
// of the latest requests. For all others, mostly hits, that would cost time for nothing.
bool depends_on_caller(const policy::Request& request) {
  const auto& facts = request.facts;
  return request.asks_as_sibling() || facts.from_proxy ||
         facts.method == cache::RequestFacts::Method::other ||
         request.terms().own_pages != policy::OwnPages::none;
}

// How the client names this proxy, "http://cache.example:3128": as a server in front of us says, if
// the settings trust it (forwarded_pass). Empty: the request has no Host.
std::string base_of(const policy::Request& request) {
  const auto& fields = request.head.fields;
  const auto told = [&](std::string_view name) {
    const auto& pass = request.policy().settings.gateway.forwarded.pass;
    return http::has_word(pass, name) ? fields.only_value(name) : std::string_view();
  };
  auto host = told("X-Forwarded-Host");
  if (host.empty() || !http::valid_host(host)) host = fields.value(http::field::host);
  if (host.empty()) return {};
  const bool is_tls = told("X-Forwarded-Proto") == "https";
  return std::string(is_tls ? "https://" : "http://").append(host);
}

}  // namespace

void begin_request(const Client& client, policy::Request& request) {
  request.pin(client.access.policy);
  record_arrival(client, request);
  request.apply_site_rule();
  add_facts(request);
  client.record.by_proxy = request.facts.from_proxy || request.facts.from_neighbour;
  client.record.neighbour = neighbour_of(client, request);
}

bool may_be_by_alias(const Client& client, const policy::Request& request) {
  const auto& target = request.target;
  if (!policy::may_mean_us(request, client.access.fetching.sources.guard)) return false;  // mostly
  const bool is_known = request.rule() || names_own_socket(client, target) ||
                        request.policy().gateway.find(target.host(), target.port());
  return !is_known && !request.asks_as_sibling() && !is_of_browser(request.head.fields);
}

void arrive_by_alias(const Client& client, policy::Request& request) {
  request.arrive(policy::Arrival::mirror, nullptr, client.registry);
  request.apply_site_rule();
}

std::string_view recipe_of(const policy::Request& request) {
  if (request.asks_as_sibling()) return {};
  const auto* const rule = request.rule();
  if (rule && !rule->recipe().empty()) return rule->recipe();
  return request.terms().mirrored == mirrors::Mirrored::yes ? "mirrors.hosts" : "";
}

mirrors::Place place_of(const policy::Request& request) {
  auto place = mirrors::place_of(request.head.target, base_of(request), request.target);
  place.is_browser = is_of_browser(request.head.fields);
  return place;
}

policy::AccessAsker asker_of(const Client& client) {
  const auto& access = client.access;
  return {client.address, client.record.user, access.clock(), access.fetching.sources.guard};
}

bool is_our_name(const Client& client, std::string_view host) {
  if (host == "localhost") return true;
  const auto& named = client.access.policy->settings.access.own_names;
  const auto is_host = [host](std::string_view name) { return http::same_word(host, name); };
  net::error_code unknown;
  return is_host(net::asio::ip::host_name(unknown)) || is_host(client.access.name()) ||
         std::any_of(named.begin(), named.end(), is_host);
}

bool names_us(const Client& client, const http::Target& target) {
  const auto host = target.host();
  return host.empty() || config::parse_address(host) || is_our_name(client, host);
}

bool names_own_socket(const Client& client, const http::Target& target) {
  const auto& guard = client.access.fetching.sources.guard;
  if (!guard.has_own_socket(target.port())) return false;  // most requests
  return guard.names_own_socket(target.host(), target.port()) || is_our_name(client, target.host());
}

bool is_for_us(const Client& client, const http::Target& target) {
  using Form = http::Target::Form;
  if (target.form() == Form::authority) return false;
  return target.form() != Form::absolute || names_own_socket(client, target);
}

void record_arrival(const Client& client, policy::Request& request) {
  arrive(client, request);
  if (depends_on_caller(request))
    request.caller = policy::caller_of(request.policy(), client.address, client.door);
}

bool is_of_neighbour(const Client& client) {
  return policy::caller_of(*client.access.policy, client.address).is_neighbour();
}

}  // namespace proxy::client
