#include "proxy/answer/answer.hpp"

#include "peers/native_target.hpp"
#include "peers/site.hpp"
#include "proxy/answer/for_one.hpp"
#include "proxy/answer/hit.hpp"
#include "proxy/answer/last_hop.hpp"
#include "proxy/answer/miss.hpp"
#include "proxy/answer/pass.hpp"
#include "proxy/answer/sign_in.hpp"
#include "proxy/answer/site_question.hpp"
#include "proxy/answer/tunnel.hpp"
#include "proxy/client/arrival.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/lookup/lookup.hpp"
#include "proxy/pages/own_pages.hpp"
#include "proxy/pages/purge.hpp"
#include "proxy/reply/refuse.hpp"

namespace proxy {

using cache::Action;
using http::Forward;
using net::Soon;
using net::Task;

namespace {

std::optional<Refusal> why_refused(const Client& client, const Request& request) {
  if (client.guest && client.guest->in_reserve()) return Refusal::no_room();
  if (client.door == Door::late) return Refusal::draining();
  if (auto refusal = check_access(client, request)) {
    if (refusal->by_list) client.access.counters().blocked.add();
    return refusal;
  }
  if (!request.may_exist()) return Refusal::unknown_url();
  return std::nullopt;
}

// Answers from an object in blocks. If it turns out to be of no use, asks the origin.
Task<void> answer_from_blocks(Client& client, const Request& request, Lookup lookup,
                              std::string_view detail) {
  const auto delivered = co_await serve_hit(client, request, lookup, detail);
  if (delivered == Delivered::sent) co_return;
  auto again = begin_anew(std::move(lookup), request);
  co_await answer_miss(client, request, std::move(again));
}

// Answers from the cache; may consume `lookup`, which outlives the task.
Soon<void> answer_hit(Client& client, const Request& request, Lookup& lookup,
                      std::string_view detail) {
  const auto& entry = *lookup.stored();
  if (entry.giver().guest) confirm_some(client, request, lookup);
  if (entry.is_object()) return answer_from_blocks(client, request, std::move(lookup), detail);
  const auto now = client.access.clock().now();
  return serve(client, request, {entry, lookup.body}, now, detail);
}

// A second field that names a digest is a client's, which a proxy on the way has passed on.
Refusal why_not_held(const ServeAccess& access, const Request& request, const Lookup& lookup) {
  const auto digest = request.head.fields.only_value(peers::kDigestField);
  auto departed = access.cache().store.departed(lookup.key, request.stored_as());
  if (digest.empty()) return Refusal::not_held(lookup.verdict, lookup.found, departed);
  const auto closed = access.fetching.sources.shared.publisher.closed_at(digest);
  // A digest whose closing is not known is of an earlier run, or too old.
  if (!closed) departed.forgotten = access.clock().now();
  return Refusal::not_held(lookup.verdict, lookup.found, departed, closed);
}

Refusal why_not_fetched(const ServeAccess& access, const Request& request, const Lookup& lookup) {
  if (request.facts.control.only_if_cached) return why_not_held(access, request, lookup);
  return Refusal::offline(lookup.verdict.reason);
}

// Carries out the verdict; may consume `lookup`, which outlives the task.
Soon<void> act_on(Client& client, const Request& request, RequestBody& body, Lookup& lookup) {
  const auto reason = lookup.verdict.reason;
  const bool looped = http::via_names(request.head.fields, client.access.name());
  // A looped request may be answered from the cache. Only if it were forwarded would it come back.
  if (looped && !answers_from_cache(lookup)) return refuse(client, request, Refusal::loop());
  switch (lookup.verdict.action) {
    case Action::serve: {
      const bool stale = request.facts.offline && reason != Forward::none;
      return answer_hit(client, request, lookup, stale ? "offline" : "");
    }
    case Action::refresh:
      if (!looped) refresh(client, request, lookup);
      return answer_hit(client, request, lookup, "stale-while-revalidate");
    case Action::refuse: {
      auto why = why_not_fetched(client.access, request, lookup);
      const auto asker = site_asker(request);
      if (!asker) return refuse(client, request, std::move(why));
      return answer_of_site(client, request, lookup, *asker, std::move(why));
    }
    case Action::pass:
      return pass(client, request, body, reason,
                  reason == Forward::stale ? lookup.stored() : nullptr);
    case Action::fetch:
    case Action::revalidate:
    case Action::complete:
      break;
  }
  if (is_hit(lookup)) return answer_hit(client, request, lookup, "");
  if (is_for_one(client, request, lookup))
    return answer_for_one(client, request, std::move(lookup));
  return answer_miss(client, request, std::move(lookup));
}

// Whether memory may answer the request, so that nothing waits before the response.
bool may_be_in_memory(const Request& request, const OwnPage* page) {
  return !page && request.facts.method != cache::RequestFacts::Method::other;
}

// A neighbour that asks for what we hold is no client: if it were slowed down, it would have to ask
// the origin.
bool keeps_to_bandwidth(const Client& client, const Request& request) {
  const bool asks_what_is_stored = request.facts.control.only_if_cached;
  const bool is_neighbour =
      asks_what_is_stored && request.policy().directory->knows(client.address);
  return client.bandwidth && !is_neighbour;
}

}  // namespace

Task<void> answer(const PagesAccess& pages, Client& client, Request& request, RequestBody& body) {
  auto& access = client.access;
  take_in(client, request);
  // Only a client that may read our digest learns its epoch.
  client.tells_epoch =
      request.facts.from_neighbour && request.head.fields.find(peers::kEpochField) != nullptr;
  const auto& policy = request.policy();

  const auto* const page = own_page(client, request);
  if (client.response.holds_back() && !may_be_in_memory(request, page)) {
    co_await client.response.flush();
  }
  // Before check_access(), because purging and pages have access settings of their own.
  if (request.head.method == "PURGE") co_return co_await serve_purge(pages, client, request);
  if (page) co_return co_await serve_own(pages, client, request, *page, body);
  if (request.rule()) client.record.rule = request.rule()->word();
  if (policy.access_rules.have_users()) {
    auto refusal = co_await sign_in(client, request);
    if (refusal) co_return co_await refuse(client, request, std::move(*refusal));
  }
  if (auto refusal = why_refused(client, request)) {
    co_return co_await refuse(client, request, std::move(*refusal));
  }
  if (keeps_to_bandwidth(client, request)) client.response.keep_to(*client.bandwidth);
  request.forget_credentials();
  // Before the look-up: a response may vary by these fields.
  request.tell_of_client(policy.settings.forwarded, client.address_text);
  if (is_last_hop(request)) co_return co_await answer_as_last(client, request);
  if (request.is_connect()) co_return co_await tunnel(client, request);

  RequestUnderWay under_way(client.share());
  const auto most =
      request_limits(policy.settings.limits, access.crowd.all.descriptors.connections);
  auto lookup = co_await look_up(client, request, under_way, most);
  const bool from_memory = answers_from_cache(lookup) && !lookup.stored()->is_object();
  const bool at_once = from_memory && !lookup.body;
  if (at_once) client.response.comes_at_once();
  if (!at_once && client.response.holds_back()) co_await client.response.flush();
  if (!from_memory && !under_way.begin(most)) {
    co_return co_await refuse(client, request, Refusal::too_many());
  }
  co_await act_on(client, request, body, lookup);
}

}  // namespace proxy
