#include "proxy/reply/refuse.hpp"

#include "proxy/client/arrival.hpp"
#include "proxy/mirrors/redirects.hpp"
#include "proxy/sources/neighbour.hpp"
#include "proxy/upstream/failure.hpp"
#include "proxy/users/check_rules.hpp"
#include "proxy/users/credentials.hpp"

namespace proxy::reply {

using net::Task;

namespace {

// A neighbour that reads `fwd=uri-miss` alone takes it for an error of our filter. So where we
// cannot know, nothing is said of the look-up.
void write_departure(const cache::Departed& departed, std::optional<cache::Time> closed,
                     http::CacheStatus& status) {
  const auto left = closed ? departure(departed, *closed) : departure(departed);
  if (left == cache::Departure::none) return;
  const bool is_known = left == cache::Departure::lately;
  status.detail = is_known ? "gone" : "unknown";
  if (!is_known) status.fwd = http::Forward::none;
}

Refusal denial(unsigned status, std::string reason, std::string_view detail,
               std::chrono::seconds retry_after = {}) {
  Refusal refusal{status, std::move(reason), observe::Tag::denied, {}};
  // The detail is what scripts and neighbours read; the reason is for people, and may change.
  refusal.cache_status.detail = detail;
  refusal.retry_after = retry_after;
  return refusal;
}

std::string exceeds(std::string_view setting) {
  return setting.empty() ? std::string() : std::string("exceeds/").append(setting);
}

}  // namespace

Refusal Refusal::loop() {
  return denial(508, "this request has been through this proxy before", "loop");
}

Refusal Refusal::not_held(const cache::Verdict& verdict, const cache::Found& found,
                          const cache::Departed& departed, std::optional<cache::Time> closed) {
  Refusal refusal{
      504, "not stored here, and only stored responses were asked for", observe::Tag::miss, {}};
  // A fresh entry may not fit the request, for instance a 404 (RFC 9211 2.2: fwd=miss).
  const bool unfit = verdict.reason == http::Forward::none;
  refusal.cache_status.fwd = unfit ? http::Forward::miss : verdict.reason;
  if (verdict.reason == http::Forward::uri_miss) {
    write_departure(departed, closed, refusal.cache_status);
  }
  if (unfit && found.entry && !found.entry->for_neighbours()) {
    refusal.cache_status.detail =
        found.entry->quotes().sets_cookie ? "refused/set-cookie" : "refused/unconfirmed";
  }
  return refusal;
}

Refusal Refusal::offline(http::Forward reason) {
  auto refusal = denial(504, std::string(policy::kOfflineText), "offline");
  refusal.tag = observe::Tag::miss;
  refusal.cache_status.fwd = reason;
  return refusal;
}

Refusal Refusal::forbidden(std::string reason) {
  return denial(403, std::move(reason), upstream::word(upstream::Failure::What::denied));
}

Refusal Refusal::denied(const policy::NoAccess& no_access) {
  using Why = policy::NoAccess::Why;
  const auto detail = no_access.why == Why::unknown_url
                          ? "unknown-url"
                          : upstream::word(upstream::Failure::What::denied);
  auto refusal = denial(policy::status_of(no_access.why), policy::text_of(no_access), detail);
  if (!no_access.rule.empty()) refusal.cache_status.detail.append("/").append(no_access.rule);
  if (no_access.why == Why::unknown_user)
    refusal.challenge = users::basic_challenge(no_access.realm);
  refusal.allow = no_access.allow;
  refusal.by_list = no_access.why == Why::list;
  return refusal;
}

Refusal Refusal::guessed_too_often() {
  return denial(429, "too many wrong passwords from your address", "client-limit",
                users::GuessLimit::kPause);
}

Refusal Refusal::too_many_checks() {
  return denial(503, "too many passwords are being checked; try again",
                upstream::word(upstream::Failure::What::overload), std::chrono::seconds(1));
}

Refusal Refusal::bad(std::string reason) {
  return {400, std::move(reason), observe::Tag::none, {}};
}

Refusal Refusal::malformed(http::HeadError error) {
  Refusal refusal{http::status_of(error), std::string(http::text(error)), observe::Tag::none, {}};
  refusal.cache_status.detail = exceeds(http::setting_of(error));
  return refusal;
}

Refusal Refusal::no_tunnel() {
  return denial(501, "no tunnels over this kind of connection", {});
}

Refusal Refusal::draining() {
  return denial(503, "this proxy is about to end", "draining");
}

Refusal Refusal::no_room() {
  return denial(503,
                "too many connections (limits.connections, limits.connections_per_client); this "
                "one is for this proxy's own pages",
                upstream::word(upstream::Failure::What::overload));
}

Refusal Refusal::too_many() {
  return denial(
      429,
      "too many requests of your address or network are under way (limits.requests_per_client)",
      "client-limit");
}

Refusal Refusal::refused_by_parent(unsigned status, const std::string& parent) {
  // A parent may answer CONNECT with any status, but only an error tells the client that there is
  // no tunnel (RFC 9110 9.3.6).
  const bool is_error = status >= 400 && status < 600;
  Refusal refusal{is_error ? status : 502,
                  "the parent proxy " + parent + " opens no tunnel to this host: it answered " +
                      std::to_string(status),
                  status < 500 ? observe::Tag::denied : observe::Tag::failed,
                  {}};
  refusal.cache_status.fwd = http::Forward::method;
  refusal.cache_status.fwd_status = status;
  refusal.cache_status.detail = "parent/" + parent;
  return refusal;
}

Refusal Refusal::failure(const upstream::Failure& failure) {
  const auto tag =
      failure.what == upstream::Failure::What::denied ? observe::Tag::denied : observe::Tag::failed;
  Refusal refusal{upstream::status_for(failure), upstream::text(failure), tag, {}};
  refusal.cache_status.detail = upstream::word(failure.what);
  http::add_detail(refusal.cache_status.detail, exceeds(upstream::exceeded_setting(failure)));
  refusal.by_list = failure.cause == upstream::Errc::blocked_address;
  refusal.retry_after = std::chrono::seconds(failure.retry_after);
  refusal.advice = upstream::advice_for(failure);
  return refusal;
}

namespace {

// `request`: null if it could not be read.
Task<void> send(client::Client& client, const Refusal& refusal, const policy::Request* request) {
  auto message = error_message(client, request, refusal);
  using beast::http::field;
  if (!refusal.allow.empty()) message.set(field::allow, refusal.allow);
  if (refusal.status == 407) message.set(field::proxy_authenticate, refusal.challenge);
  if (refusal.retry_after.count() > 0) {
    message.set(field::retry_after, std::to_string(refusal.retry_after.count()));
  }
  // After error_message(), which asks the tag whether the page is one of ours.
  client.record.tag = refusal.tag;
  co_await send_message(client, message);
}

// What a neighbour asks for and does not get fails nobody: it asks elsewhere.
void record_question(client::Client& client, const policy::Request& request, Refusal& refusal) {
  using Method = cache::RequestFacts::Method;
  const auto& facts = request.facts;
  const bool may_ask = facts.method != Method::other && refusal.tag != observe::Tag::own_page;
  client.record.question =
      may_ask && (facts.from_neighbour || refusal.tag == observe::Tag::site_question);
  if (!client.record.question) return;
  client.record.routine = !request.policy().settings.log.site_questions;
  // A denial keeps its tag: it shows a wrong setting, and no question that went well.
  if (refusal.tag != observe::Tag::denied) refusal.tag = observe::Tag::site_question;
}

}  // namespace

Task<void> refuse(client::Client& client, const policy::Request& request, Refusal refusal) {
  // RFC 9111 5.2.1.7 knows one answer to only-if-cached that is not stored: 504.
  if (request.asks_as_sibling() && refusal.status != 504) {
    refusal.status = 504;
    auto& detail = refusal.cache_status.detail;
    detail.insert(0, detail.empty() ? "refused" : "refused/");
  }
  record_question(client, request, refusal);
  // The body stays unread, and its bytes would look like the next request (RFC 9112 9.6).
  if (request.framing.has_body()) client.response.close_after();
  co_await send(client, refusal, &request);
}

Task<void> refuse(client::Client& client, const policy::Request& request, upstream::Failure failure,
                  http::Forward reason) {
  const bool is_offline = request.facts.offline && failure.cause == upstream::Errc::no_route;
  if (is_offline) {
    auto refusal = Refusal::offline(reason);
    refusal.cache_status.collapsed = client.record.collapsed;
    co_return co_await refuse(client, request, std::move(refusal));
  }
  auto refusal = Refusal::failure(failure);
  // A client of a mirror tells by the status whether to try its next source: 502 is for an answer
  // that is none.
  const bool is_mirrored = request.policy().mirrored_hosts.have(request.target);
  if (is_mirrored && upstream::is_unreached(failure)) refusal.status = 504;
  // RFC 9211 2.2: fwd says that the request went forward, which a local failure prevented.
  if (failure.where == upstream::Failure::Where::upstream) refusal.cache_status.fwd = reason;
  // More than the failure knows: whether it is this name alone, or all of them.
  if (failure.what == upstream::Failure::What::dns) {
    const auto now = client.access.clock().steady();
    refusal.reason = client.access.fetching.sources.shared.servers.names.text_for_client(now);
  }
  const auto& guard = client.access.fetching.sources.guard;
  if (failure.cause == upstream::Errc::denied_address && policy::may_mean_us(request, guard))
    refusal.reason = policy::kUnknownNameText;
  refusal.cache_status.collapsed = client.record.collapsed;
  if (failure.cause == upstream::Errc::blocked_address) client.access.counters().blocked.add();
  // A registry that gives an image to its users alone is well.
  if (failure.cause != upstream::Errc::needs_credentials)
    client.record.failure = upstream::word(failure.what);
  client.record.exceeded = upstream::exceeded_setting(failure);
  client.record.upstream_host = request.target.host();
  client.record.hierarchy = observe::Hierarchy::direct;
  co_await refuse(client, request, std::move(refusal));
}

std::optional<upstream::Failure> why_kept_back(const client::Client& client, unsigned status) {
  if (!client.state.mirrored || !mirrors::is_redirect(status)) return std::nullopt;
  return failure_of(upstream::Failure::Where::upstream, upstream::Errc::redirected_out);
}

// The request was not read, so each neighbour gets the proof that the answer is ours.
Task<void> refuse_unread(client::Client& client, Refusal refusal) {
  client.tells_epoch = client::is_of_neighbour(client);
  client.response.close_after();
  co_await send(client, refusal, nullptr);
}

Task<void> refuse_malformed(client::Client& client, http::HeadError error) {
  client.access.counters().malformed.add();
  client.record.exceeded = http::setting_of(error);
  co_await refuse_unread(client, Refusal::malformed(error));
}

}  // namespace proxy::reply
