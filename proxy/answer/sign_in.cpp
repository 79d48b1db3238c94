#include "proxy/answer/sign_in.hpp"

#include "proxy/users/credentials.hpp"

namespace proxy {

using net::Task;
using users::Verdict;

namespace {

// The client is refused in any case.
bool is_turned_away(const Client& client) {
  return client.door == Door::late || (client.guest && client.guest->in_reserve());
}

Refusal refusal_for(Verdict verdict) {
  if (verdict == Verdict::guessed_too_often) return Refusal::guessed_too_often();
  return Refusal::too_many_checks();
}

std::optional<users::Credentials> credentials_of(const Request& request) {
  using http::field;
  const auto& fields = request.head.fields;
  if (fields.count(field::proxy_authorization) != 1) return std::nullopt;
  return users::parse_basic(fields.value(field::proxy_authorization));
}

Task<Verdict> check(Client& client, const Request& request, const users::Credentials& given) {
  Wakeup wakeup(client.access.executor());
  const ResponseWriter::WaitsFor waits(client.response, [&wakeup] { wakeup.notify(); });
  const users::Guesser guesser{counted_as(client.address), network_of(client.address)};
  co_return co_await client.access.password_checks.verdict(*request.policy().users, given, guesser,
                                                           wakeup);
}

}  // namespace

Task<std::optional<Refusal>> sign_in(Client& client, const Request& request) {
  if (is_turned_away(client)) co_return std::nullopt;
  const auto* const rule = deciding_rule(client, request);
  if (!rule || !rule->has_users()) co_return std::nullopt;
  client.record.denied_by = rule->name();
  if (auto refusal = check_sign_in(client, request, *rule)) co_return refusal;
  const auto& settings = *request.policy().settings.access.users;
  const auto given = credentials_of(request);
  if (!given) co_return Refusal::unknown_user(rule->name(), settings.realm);
  if (client.response.holds_back()) co_await client.response.flush();
  const auto verdict = co_await check(client, request, *given);
  if (verdict == Verdict::wrong) co_return Refusal::unknown_user(rule->name(), settings.realm);
  if (verdict != Verdict::right) co_return refusal_for(verdict);
  client.record.denied_by = {};
  client.record.user = given->name;
  co_return std::nullopt;
}

}  // namespace proxy
