#include "proxy/answer/answer.hpp"

#include "peers/native_target.hpp"
#include "peers/site.hpp"
#include "proxy/answer/alias.hpp"
#include "proxy/answer/authorized_hit.hpp"
#include "proxy/answer/hit.hpp"
#include "proxy/answer/image_tag.hpp"
#include "proxy/answer/miss.hpp"
#include "proxy/answer/pass.hpp"
#include "proxy/answer/tunnel.hpp"
#include "proxy/client/arrival.hpp"
#include "proxy/fetching/lookup.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/framing.hpp"
#include "proxy/mirrors/image_name.hpp"
#include "proxy/pages/own_pages.hpp"
#include "proxy/pages/purge.hpp"
#include "proxy/reply/deliver.hpp"
#include "proxy/reply/own_message.hpp"
#include "proxy/reply/refuse.hpp"
#include "proxy/reply/rewriting.hpp"
#include "proxy/sources/neighbour.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/users/credentials.hpp"

namespace proxy::answer {

namespace beast = boost::beast;

using cache::Action;
using http::Forward;
using net::Soon;
using net::Task;

namespace {

// The client is refused in any case.
bool is_turned_away(const client::Client& client) {
  return client.door == policy::Door::late || (client.guest && client.guest->in_reserve());
}

std::optional<users::Credentials> credentials_of(const policy::Request& request) {
  using http::field;
  const auto& fields = request.head.fields;
  if (fields.count(field::proxy_authorization) != 1) return std::nullopt;
  return users::parse_basic(fields.value(field::proxy_authorization));
}

Task<users::PasswordResult> check_password(client::Client& client, const policy::Request& request,
                                           const users::Credentials& given) {
  net::Wakeup wakeup(client.access.executor());
  const client::ResponseState::WaitsFor waits(client.state, [&wakeup] { wakeup.notify(); });
  const users::Guesser guesser{crowd::counted_as(client.address),
                               crowd::network_of(client.address)};
  co_return co_await client.access.password_checks.check(*request.policy().users, given, guesser,
                                                         wakeup);
}

// What lacking access means to the log, the counters and the answer.
reply::Refusal refusal_for(client::Client& client, const policy::Request& request,
                           const policy::NoAccess& no_access) {
  auto refusal = reply::Refusal::denied(no_access);
  // Clients of registries try the next one only where the image does not exist.
  const bool is_image = mirrors::is_registry_path(request.target.path());
  if (no_access.why == policy::NoAccess::Why::no_mirror && is_image) refusal.status = 404;
  client.record.denied_by = no_access.rule;
  if (refusal.by_list) client.access.counters().blocked.add();
  if (no_access.why != policy::NoAccess::Why::not_a_client || !request.asks_as_sibling())
    return refusal;
  // The detail tells a neighbour that this proxy refuses all its questions.
  refusal.cache_status.detail = sources::kNotAClient;
  if (request.caller.is_neighbour()) {
    client.access.observed.refused_neighbours.record(
        {client.address, client.address_text, client.access.clock().steady()});
  }
  return refusal;
}

// Proxy authentication: checks the credentials if the access rule that matches the request names
// users. Returns nothing if no user is needed, or the user is known; client.record.user then names
// the user. Else returns why the request is refused: 407 asks for credentials. A password that
// crosses the network can be read there, so only clients over loopback are asked for one, unless
// access.users.cleartext is set. A client of a gateway is denied, because it takes the gateway for
// the origin and cannot name a user to a proxy.
Task<std::optional<reply::Refusal>> sign_in(client::Client& client,
                                            const policy::Request& request) {
  if (is_turned_away(client)) co_return std::nullopt;
  const auto asker = client::asker_of(client);
  const auto* const rule = policy::deciding_rule(asker, request);
  if (!rule || !rule->has_users()) co_return std::nullopt;
  if (const auto no_access = policy::check_sign_in(asker, request, *rule))
    co_return refusal_for(client, request, *no_access);
  const auto& settings = *request.policy().settings.access.users;
  const policy::NoAccess unknown{policy::NoAccess::Why::unknown_user, rule->name(), settings.realm};
  const auto given = credentials_of(request);
  if (!given) co_return refusal_for(client, request, unknown);
  client.record.denied_by = rule->name();
  co_await client.response.flush();
  const auto result = co_await check_password(client, request, *given);
  if (result == users::PasswordResult::wrong) co_return refusal_for(client, request, unknown);
  if (result == users::PasswordResult::guessed_too_often)
    co_return reply::Refusal::guessed_too_often();
  if (result != users::PasswordResult::right) co_return reply::Refusal::too_many_checks();
  client.record.denied_by = {};
  client.record.user = given->name;
  co_return std::nullopt;
}

std::optional<reply::Refusal> why_refused(client::Client& client, const policy::Request& request) {
  if (client.guest && client.guest->in_reserve()) return reply::Refusal::no_room();
  if (client.door == policy::Door::late) return reply::Refusal::draining();
  const auto no_access = policy::check_access(client::asker_of(client), request);
  return no_access ? std::optional(refusal_for(client, request, *no_access)) : std::nullopt;
}

// Answers what may be forwarded no further, as the final recipient (RFC 9110 7.6.2): OPTIONS with
// the methods that this proxy forwards, TRACE with the request as it arrived, without credentials.
Task<void> answer_as_last(client::Client& client, const policy::Request& request) {
  constexpr std::string_view kForwarded = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE";
  client.record.tag = observe::Tag::own_page;
  if (request.framing.has_body()) client.response.close_after();
  const bool trace = request.head.method == "TRACE";
  auto message = reply::own_message(client, 200, trace ? "message/http" : "",
                                    trace ? http::traced(request.head, request.target) : "");
  if (!trace) message.set(beast::http::field::allow, kForwarded);
  co_await reply::send_message(client, message);
}

// Whether the answer may be sent from a file of the disk, or needs no body.
cache::Bodies may_stay_in_file(const client::Client& client, const policy::Request& request) {
  using Method = cache::RequestFacts::Method;
  const bool is_for_all = request.facts.method == Method::get && !request.facts.range;
  const bool is_sent = is_for_all && client.response.sends_files();
  const bool stays = is_sent || request.facts.method == Method::head;
  return stays ? cache::Bodies::large_in_file : cache::Bodies::in_memory;
}

Task<void> look_on_disk(client::Client& client, const policy::Request& request,
                        tiers::Sought sought, fetching::Lookup& lookup, Soon<void> finding) {
  auto& access = client.access.fetching;
  co_await client.response.flush();
  co_await finding;
  fetching::decide(access, request, lookup);
  // A body in its file can only be served: to validate or complete the entry takes its bytes.
  if (lookup.body && lookup.verdict.action != Action::serve) {
    co_await access.cached().find_whole(request, sought, lookup);
    fetching::decide(access, request, lookup);
  }
  if (lookup.from_disk) client.record.from_disk = true;
}

// Searches the cache, and decides. The disk is searched only if `under_way` may begin with `most`.
// A body is left in its file only if it is served. Has no frame if memory answers.
Soon<void> look_up(client::Client& client, const policy::Request& request,
                   crowd::RequestUnderWay& under_way, const crowd::RequestLimits& most,
                   fetching::Lookup& lookup) {
  auto& access = client.access.fetching;
  lookup.key = digest::key_of(digest::Method::get, request.stored_as());
  lookup.asked = client.record.begun;
  const tiers::Sought sought{lookup.key, lookup.asked, may_stay_in_file(client, request)};
  auto finding = access.cached().find(request, sought, lookup);
  if (!finding.is_here() && under_way.begin(most))
    return look_on_disk(client, request, sought, lookup, std::move(finding));
  fetching::decide(access, request, lookup);
  return {};
}

// A second field that names a digest is a client's, which a proxy on the way has passed on.
reply::Refusal why_not_held(const client::ServeAccess& access, const policy::Request& request,
                            const fetching::Lookup& lookup) {
  const auto digest = request.head.fields.only_value(peers::kDigestField);
  auto departed = access.cache().departed(lookup.key, request.stored_as());
  if (digest.empty()) return reply::Refusal::not_held(lookup.verdict, lookup.found, departed);
  const auto closed = access.fetching.sources.shared.publisher.closed_at(digest);
  // A digest whose closing is not known is of an earlier run, or too old.
  if (!closed) departed.forgotten = access.clock().now();
  return reply::Refusal::not_held(lookup.verdict, lookup.found, departed, closed);
}

// Tells the neighbour that we wait for a fetch, so that it does not take us for slow.
constexpr std::string_view kProcessing = "HTTP/1.1 102 Processing\r\n\r\n";
// The same, and that another one follows (peers::kFetchField).
constexpr std::string_view kHeartbeat = "HTTP/1.1 102 Processing\r\nHearsay-Fetch: ?1\r\n\r\n";

// Whether the object would answer, if all its blocks were here, and those that are not are
// arriving.
bool arrives(const client::ServeAccess& access, const policy::Request& request,
             const fetching::Lookup& lookup) {
  const bool is_object = lookup.stored() && lookup.stored()->is_object();
  if (!is_object || lookup.presence != blocks::Presence::under_way) return false;
  auto whole = lookup.found;
  whole.lacks = false;
  const auto now = access.clock().now();
  return cache::judge(request.facts, whole, now).action == cache::Action::serve;
}

// Whether the fill waits for the member of the site that asks us to wait. If two have begun to wait
// for each other at the same time, both notice it, and the one of the lesser epoch gives way.
bool gives_way(const client::ServeAccess& access, const fill::Fill& fill, peers::Epoch asker) {
  const auto ours = access.fetching.sources.shared.publisher.current()->epoch;
  return fill.awaited_member == asker && ours < asker;
}

// Until the fill's head is here, the neighbour has heard enough, or gives_way().
Task<void> say_that_we_wait(client::Client& client, std::shared_ptr<fill::Fill> fill,
                            peers::Epoch asker) {
  // An older Hearsay takes 32 interim heads for a fault.
  constexpr int kMostHeartbeats = 30;
  const auto reader = fill::FillReader::attach(fill, client.wake_by());
  if (!reader) co_return;
  const client::ResponseState::WaitsFor waits(client.state, [&reader] { reader->leave(); });
  for (int sent = 0; sent < kMostHeartbeats && !gives_way(client.access, *fill, asker);) {
    if (co_await client.response.interim(kHeartbeat)) co_return;
    ++sent;
    const auto until = client.access.clock().steady() + peers::kHeartbeat;
    auto woken = net::Wakeup::Woken::notified;
    while (woken == net::Wakeup::Woken::notified) {
      auto news = reader->news();
      if (news.head) co_return;
      if (!news.interim) woken = co_await client.wake_by().wait_until(until);
    }
  }
  co_await client.response.interim(kProcessing);
}

// Answers from an object whose missing blocks are arriving. Returns whether an answer was sent.
Task<bool> answer_by_blocks_under_way(client::Client& client, const policy::Request& request,
                                      const fetching::Lookup& lookup) {
  co_await client.response.interim(kProcessing);
  reply::Hit object{lookup.key, lookup.stored(), {}, {}, lookup.presence, true};
  const auto delivered = co_await reply::serve(client, request, std::move(object));
  co_return delivered == reply::Delivered::sent;
}

// Answers from a fill under way, unless it waits for the asker. Returns whether an answer was sent.
Task<bool> answer_by_fill_under_way(client::Client& client, const policy::Request& request,
                                    const fetching::Lookup& lookup, peers::Epoch asker) {
  const auto& access = client.access;
  if (!fetching::allowed_for(access.fetching, request, lookup).share) co_return false;
  const auto now = access.clock().steady();
  auto fill = access.cache().fills.under_way(lookup.key, request.stored_as(), now);
  if (!fill) co_return co_await answer_by_new_entry(client, request, lookup);
  if (fill->awaited_member == asker) co_return false;
  // A fetch that others wait for was worth the question by which they find it.
  using Question = sources::SiteLuck::Question;
  if (request.facts.from_neighbour)
    sources::record_site_luck(access.fetching.sources, request, Question::found);
  co_await say_that_we_wait(client, fill, asker);
  if (gives_way(access, *fill, asker)) co_return false;
  co_return co_await answer_by_others_fill(client, request, lookup, std::move(fill));
}

// Nothing if the request is no question of a neighbour for what this proxy does not claim
// (peers/site.hpp).
std::optional<peers::SiteQuestion> site_question(const policy::Request& request) {
  if (!request.asks_as_sibling()) return std::nullopt;
  return peers::parse_site_question(request.head.fields.only_value(peers::kFetchField));
}

// Whether a neighbour that waits for the response probably waits in vain.
bool is_unshared(const client::ServeAccess& access, const policy::Request& request,
                 const fetching::Lookup& lookup) {
  const auto now = access.clock().steady();
  return access.cache().fills.recently_unshared(lookup.key, now) ||
         access.fetching.sources.shared.unshared_paths.has(request.stored_as(), now);
}

// Answers from what is arriving here. Else the refusal names the neighbour that fetches the
// response, if another one does. The asker is neither kept waiting nor sent on for what is
// unshared.
Task<void> answer_of_site(client::Client& client, const policy::Request& request,
                          const fetching::Lookup& lookup, peers::SiteQuestion question,
                          reply::Refusal refusal) {
  const auto& access = client.access;
  const auto asker = question.asker;
  bool answered = false;
  if (arrives(access, request, lookup))
    answered = co_await answer_by_blocks_under_way(client, request, lookup);
  else if (!is_unshared(access, request, lookup))
    answered = co_await answer_by_fill_under_way(client, request, lookup, asker);
  if (answered) co_return;
  refusal.tag = observe::Tag::site_question;
  // Asked only now, because the wait may have taken seconds, and may have shown that the response
  // is unshared.
  const auto now = access.clock().steady();
  auto& fetches = access.fetching.sources.shared.site_fetches;
  const auto& directory = *request.policy().directory;
  const auto known = fetches.fetcher_of(lookup.key, now);
  if (known && !directory.member(*known, now)) question.given_up.push_back(*known);
  const bool is_member = request.facts.from_neighbour && directory.member(asker, now) &&
                         !is_unshared(access, request, lookup);
  const auto fetcher = is_member ? fetches.enter(lookup.key, asker, now, question.given_up) : asker;
  if (fetcher != asker) refusal.cache_status.detail = "fetched-by/" + peers::to_text(fetcher);
  co_await reply::refuse(client, request, std::move(refusal));
}

// Carries out the verdict; may consume `lookup`, which outlives the task.
Soon<void> act_on(client::Client& client, const policy::Request& request, client::RequestBody& body,
                  fetching::Lookup& lookup) {
  const auto reason = lookup.verdict.reason;
  if (reply::is_made(client, request)) return reply::send_made(client, request);
  const bool looped = http::via_names(request.head.fields, client.access.name());
  // A looped request may be answered from the cache. Only if it were forwarded would it come back.
  if (looped && !fetching::answers_from_cache(lookup))
    return reply::refuse(client, request, reply::Refusal::loop());
  switch (lookup.verdict.action) {
    case Action::serve: {
      const bool stale = request.facts.offline && reason != Forward::none;
      return answer_hit(client, request, lookup, stale ? "offline" : "");
    }
    case Action::refresh:
      if (!looped) refresh(client, request, lookup);
      return answer_hit(client, request, lookup, "stale-while-revalidate");
    case Action::refuse: {
      auto why = request.asks_as_sibling() ? why_not_held(client.access, request, lookup)
                                           : reply::Refusal::offline(reason);
      const auto question = site_question(request);
      if (!question) return reply::refuse(client, request, std::move(why));
      return answer_of_site(client, request, lookup, *question, std::move(why));
    }
    case Action::pass:
      if (is_of_one_user(request)) return answer_user(client, request, body);
      return pass(client, request, body, reason,
                  reason == Forward::stale ? lookup.stored() : nullptr);
    case Action::fetch:
    case Action::revalidate:
    case Action::complete:
      break;
  }
  if (fetching::is_hit(lookup)) return answer_hit(client, request, lookup, "");
  return answer_miss(client, request, std::move(lookup));
}

// A neighbour that asks for what we hold is no client: if it were slowed down, it would have to ask
// the origin.
bool keeps_to_bandwidth(const client::Client& client, const policy::Request& request) {
  const bool is_of_neighbour =
      request.asks_as_sibling() && request.caller.neighbour == policy::Caller::Proof::peer;
  return client.bandwidth && !is_of_neighbour;
}

}  // namespace

Task<void> answer(const pages::PagesAccess& pages, client::Client& client, policy::Request& request,
                  client::RequestBody& body) {
  auto& access = client.access;
  client::begin_request(client, request);
  co_await see_alias(client, request);
  // Only a client that may read our digest learns its epoch.
  client.tells_epoch =
      request.facts.from_neighbour && request.head.fields.find(peers::kEpochField) != nullptr;
  const auto& policy = request.policy();

  const auto* const page = pages::own_page(client, request);
  // Memory answers no such request, so something waits before the response.
  const bool waits = page || request.facts.method == cache::RequestFacts::Method::other;
  if (waits) co_await client.response.flush();
  // Before check_access(), because purging and pages have access settings of their own.
  if (request.head.method == "PURGE") co_return co_await pages::serve_purge(pages, client, request);
  if (page) co_return co_await pages::serve_own(pages, client, request, *page, body);
  if (request.rule()) client.record.rule = request.rule()->word();
  client.record.recipe = client::recipe_of(request);
  if (policy.access_rules.have_users()) {
    auto refusal = co_await sign_in(client, request);
    if (refusal) co_return co_await reply::refuse(client, request, std::move(*refusal));
  }
  if (auto refusal = why_refused(client, request)) {
    co_return co_await reply::refuse(client, request, std::move(*refusal));
  }
  if (keeps_to_bandwidth(client, request)) client.state.bandwidth = client.bandwidth;
  reply::MirroredResponse mirrored(client, request);
  request.remove_credentials();
  // Before the look-up: a response may vary by these fields.
  request.write_client_fields(policy.settings.gateway.forwarded, client.address_text);
  const bool is_last_hop = http::hops_left(request.head) == std::uint64_t{0};
  if (is_last_hop) co_return co_await answer_as_last(client, request);
  if (request.is_connect()) co_return co_await tunnel(client, request);

  auto& asker = mirrored.client();
  crowd::RequestUnderWay under_way(client.share());
  const auto most =
      crowd::request_limits(policy.settings.limits, access.crowd.all.descriptors.connections);
  co_await see_image(client, request, under_way, most);
  fetching::Lookup lookup;
  co_await look_up(asker, request, under_way, most, lookup);
  const bool from_memory = fetching::answers_from_cache(lookup) && !lookup.stored()->is_object();
  const bool at_once = from_memory && !lookup.body;
  if (at_once) client.state.may_be_held_back = true;
  if (!at_once) co_await client.response.flush();
  if (!from_memory && !under_way.begin(most)) {
    co_return co_await reply::refuse(client, request, reply::Refusal::too_many());
  }
  co_await look_elsewhere(asker, request, lookup);
  co_await act_on(asker, request, body, lookup);
}

}  // namespace proxy::answer
