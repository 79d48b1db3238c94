#include "proxy/client/take_in.hpp"

#include "peers/site.hpp"
#include "proxy/client/note_arrival.hpp"

namespace proxy {
namespace {

// Whether the client may have learned from our digest what is stored. Neighbours, `access.peers`
// and admins may read the digest. An admin that is no proxy asks on its own account.
bool may_be_neighbour(const Client& client, const Request& request) {
  const auto& policy = request.policy();
  const auto& access = policy.settings.access;
  return policy.is_neighbour(client.address) ||
         (request.facts.from_proxy && config::contains(access.admin, client.address));
}

// What the rules need to know and the head does not tell.
void add_facts(const Client& client, Request& request) {
  const auto& policy = request.policy();
  auto& facts = request.facts;
  if (policy.settings.cache.offline) facts.offline = true;
  const bool asks_what_is_stored = facts.control.only_if_cached;
  if (!asks_what_is_stored) return;
  const auto rule = request.head.fields.only_value(peers::kRuleField);
  facts.asked_rule = peers::parse_epoch(rule).value_or(0);
  facts.from_neighbour = may_be_neighbour(client, request);
  // A Squid may leave out Via.
  if (policy.directory->knows(client.address)) facts.from_proxy = true;
}

}  // namespace

void take_in(const Client& client, Request& request) {
  request.pin(client.access.policy);
  note_arrival(client, request);
  request.follow(request.policy().rules);
  add_facts(client, request);
  client.record.by_proxy = request.facts.from_proxy || request.facts.from_neighbour;
}

bool asks_for_epoch(const Request& request) {
  return request.facts.from_neighbour && request.head.fields.find(peers::kEpochField) != nullptr;
}

}  // namespace proxy
