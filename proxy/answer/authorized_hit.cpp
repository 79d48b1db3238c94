#include "proxy/answer/authorized_hit.hpp"

#include "proxy/answer/hit.hpp"
#include "proxy/answer/pass.hpp"
#include "proxy/http/secrets.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/policy/content.hpp"
#include "proxy/reply/deliver.hpp"
#include "proxy/sources/attempt.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/upstream_request.hpp"

namespace proxy::answer {

using net::Task;

namespace {

// Whether the stored response is whole, and may be given to others.
bool may_be_given(const fetching::Lookup& lookup) {
  const auto& stored = lookup.stored();
  return stored && stored->status == 200 && !stored->is_part() && !stored->giver().guest &&
         lookup.presence == blocks::Presence::stored;
}

// What the origin says to a HEAD with the client's credentials.
enum class Says : std::uint8_t {
  may_have,  // the client may have what is stored
  nothing,   // the origin is away, or has no time
  other,
};

Says said_by(const sources::Attempt& asked, const policy::Request& request,
             const cache::Entry& stored) {
  if (!asked.outcome())
    return upstream::out_of_reach(asked.outcome().error()) ? Says::nothing : Says::other;
  const auto& head = asked.head();
  if (cache::is_error_to_stand_in_for(head.status)) return Says::nothing;
  if (head.status != 200) return Says::other;
  const auto etag = head.fields.value(http::field::etag);
  const bool is_it =
      policy::content_of(request) || http::strongly_equal(etag, stored.quotes().etag);
  return is_it ? Says::may_have : Says::other;
}

Task<Says> ask_origin(client::Client& client, const policy::Request& request,
                      const cache::Entry& stored) {
  auto& access = client.access.fetching.sources;
  constexpr std::string_view kMethod = "HEAD";
  auto head = sources::origin_request(request, client.access.name(), {});
  head.replace(0, head.find(' '), kMethod);
  auto plan = sources::origin_plan(request, std::move(head));
  plan.method = kMethod;
  sources::Attempt attempt(access, std::move(plan), request);
  const client::ResponseState::WaitsFor waits(client.state, [&attempt] { attempt.abandon(); });
  co_await attempt.ask();
  const auto says = said_by(attempt, request, stored);
  if (attempt.outcome()) attempt.fetch().finish();
  co_return says;
}

// Returns whether a response was sent.
Task<bool> answer_authorized(client::Client& client, const policy::Request& request) {
  auto& access = client.access.fetching;
  const policy::OwnedRequest anybodys(request, policy::OwnedRequest::Fields::anybodys);
  const auto& asked = anybodys.get();
  if (asked.facts.never_store || asked.facts.offline) co_return false;
  fetching::Lookup lookup;
  lookup.key = digest::key_of(digest::Method::get, asked.stored_as());
  lookup.asked = client.record.begun;
  const tiers::Sought sought{lookup.key, lookup.asked};
  auto finding = access.cached().find(asked, sought, lookup);
  co_await finding;
  fetching::decide(access, asked, lookup);
  const bool is_under_its_url = fetching::answers_from_cache(lookup);
  auto looking = look_elsewhere(client, asked, lookup);
  co_await looking;
  if (!may_be_given(lookup)) co_return false;
  auto asks = ask_origin(client, request, *lookup.stored());
  const auto says = co_await asks;
  const bool is_for_anybody =
      says == Says::nothing && is_under_its_url && asked.facts.is_immutable_by_class();
  if (client.state.was_cut || (says != Says::may_have && !is_for_anybody)) co_return false;
  if (lookup.from_disk) client.record.from_disk = true;
  const reply::Hit hit{lookup.key, lookup.stored(), "authorized"};
  auto serving = reply::serve(client, request, hit);
  const auto delivered = co_await serving;
  co_return delivered == reply::Delivered::sent;
}

}  // namespace

bool is_of_one_user(const policy::Request& request) {
  const auto& facts = request.facts;
  const bool has_credentials = facts.authorization || http::shows_secret(request.head.fields);
  return has_credentials && facts.freshness.by_class && facts.never_store && !facts.for_origin &&
         facts.method == cache::RequestFacts::Method::get && !request.mapping();
}

Task<void> answer_user(client::Client& client, const policy::Request& request,
                       client::RequestBody& body) {
  // A cache on the way must not give the response to others.
  client.state.fields += "Cache-Control: private\r\n";
  const bool answered = co_await answer_authorized(client, request);
  if (answered) co_return;
  auto passing = pass(client, request, body, http::Forward::bypass, nullptr);
  co_await passing;
}

}  // namespace proxy::answer
