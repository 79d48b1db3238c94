#include "proxy/policy/caller.hpp"

#include <algorithm>

#include "proxy/http/forwarded.hpp"
#include "proxy/http/text.hpp"
#include "proxy/policy/policy.hpp"

namespace proxy::policy {
namespace {

using Proof = Caller::Proof;

bool names_no_client(std::string_view x_forwarded_for) {
  return x_forwarded_for.empty() || x_forwarded_for == "::" || x_forwarded_for == "unknown";
}

// Fields that clients send, and a Squid in its own requests does not.
constexpr http::field kOfClients[] = {http::field::user_agent,      http::field::accept_encoding,
                                      http::field::accept_language, http::field::cookie,
                                      http::field::origin,          http::field::referer};

// A Squid's own request has the Via of that Squid alone, and its X-Forwarded-For names no client:
// "::", or what the setting forwarded_for of Squid makes of it. In a request that a Squid forwards,
// these fields tell of the client, or the client's fields remain.
bool is_squids_own(const http::Fields& fields) {
  using http::field;
  const auto via = fields.value(field::via);
  const bool of_one_squid =
      fields.count(field::via) == 1 && via.find(',') == via.npos && via.find("(squid") != via.npos;
  const bool of_no_client = std::none_of(fields.begin(), fields.end(), [](const auto& line) {
    const bool listed =
        std::find(std::begin(kOfClients), std::end(kOfClients), line.id) != std::end(kOfClients);
    const bool is_list = http::same_word(line.name, http::kXForwardedFor);
    return listed || (http::is_forwarded_field(line) && !(is_list && names_no_client(line.value)));
  });
  return of_one_squid && of_no_client &&
         http::has_member(fields, field::accept, "application/cache-digest");
}

bool may_be_client(const config::AccessSettings& access, const config::Address& address) {
  const auto allows = [&address](const config::AccessRule& rule) {
    return rule.allows && (rule.clients.empty() || config::contains(rule.clients, address));
  };
  return config::contains(access.clients, address) ||
         std::any_of(access.rules.begin(), access.rules.end(), allows);
}

}  // namespace

Caller caller_of(const Policy& policy, const config::Address& address, Door door) {
  const auto& access = policy.settings.access;
  Caller caller;
  // The address of a peer is the better proof: it tells which neighbour it is.
  if (policy.directory->knows(address)) {
    caller.neighbour = Proof::peer;
    caller.peer = policy.directory->at(address);
  } else if (config::contains(access.peers, address)) {
    caller.neighbour = Proof::network;
  }
  if (door == Door::control) {
    caller.admin = Proof::control_socket;
  } else if (config::contains(access.admin, address)) {
    caller.admin = Proof::network;
  }
  caller.is_monitor = config::contains(access.monitor, address);
  caller.may_be_client = may_be_client(access, address);
  return caller;
}

Relay relay_of(const http::Fields& fields) {
  const bool is_relayed = fields.has(http::field::via) ||
                          std::any_of(fields.begin(), fields.end(), http::is_forwarded_field);
  if (!is_relayed) return Relay::none;
  return is_squids_own(fields) ? Relay::squid : Relay::proxy;
}

Terms terms_of(Arrival arrival, const Mapping* mapping) {
  if (arrival == Arrival::forward) return {};
  if (arrival == Arrival::mirror)
    return {.may_sign_in = false, .may_show_badge = false, .mirrored = mirrors::Mirrored::yes};
  Terms terms{.chooses_origin = false,
              .uses_parents = !mapping,
              .may_sign_in = false,
              .may_show_badge = !mapping,
              .own_pages = OwnPages::all};
  if (!mapping) return terms;
  terms.own_pages = mapping->any_host ? OwnPages::at_any_name : OwnPages::at_our_socket;
  if (!mapping->share) terms.space = cache::Space::gateway;
  return terms;
}

}  // namespace proxy::policy
