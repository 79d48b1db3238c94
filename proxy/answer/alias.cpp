#include "proxy/answer/alias.hpp"

#include "proxy/client/arrival.hpp"
#include "proxy/sources/source_access.hpp"

namespace proxy::answer {

using net::Soon;
using net::Task;

namespace {

// Whether the client may use this proxy. It resolves no names for others.
bool is_admitted(const client::Client& client, const policy::Request& request) {
  if (client.door == policy::Door::late || (client.guest && client.guest->in_reserve()))
    return false;
  return policy::deciding_rule(client::asker_of(client), request) ||
         config::contains(request.policy().settings.access.clients, client.address);
}

Task<void> look_up_alias(client::Client& client, policy::Request& request) {
  auto& sources = client.access.fetching.sources;
  co_await client.response.flush();
  const auto& target = request.target;
  const auto timeout = request.policy().settings.timeouts.connect;
  auto finds = sources.resolver.resolve(std::string(target.host()), timeout);
  const auto addresses = co_await finds;
  if (!addresses) co_return;
  const bool is_us = std::ranges::all_of(*addresses, [&](const auto& address) {
    return sources.guard.names_own_socket(address.to_string(), target.port());
  });
  if (is_us) client::arrive_by_alias(client, request);
}

}  // namespace

Soon<void> see_alias(client::Client& client, policy::Request& request) {
  if (!client::may_be_by_alias(client, request)) return {};  // mostly
  if (!is_admitted(client, request)) return {};
  return look_up_alias(client, request);
}

}  // namespace proxy::answer
