#include "proxy/answer/miss.hpp"

#include <array>

#include "proxy/answer/hit.hpp"
#include "proxy/fetching/fetching.hpp"
#include "proxy/fetching/from_origin.hpp"
#include "proxy/policy/content.hpp"
#include "proxy/reply/deliver.hpp"
#include "proxy/reply/refuse.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/upstream_request.hpp"

namespace proxy::answer {

using cache::Action;
using http::Forward;
using net::Task;
namespace asio = net::asio;

namespace {

// For how long a request waits for the rest of a body, of at most this length, that will be stored.
constexpr std::chrono::milliseconds kStoredSoon{100};
constexpr std::uint64_t kShort = std::uint64_t{64} << 10;

constexpr upstream::Failure kOverload{
    upstream::Failure::Where::us, upstream::Failure::What::overload, {}};

bool is_critical(const client::ServeAccess& access) {
  return crowd::pressure_on(access.fetching.transit) >= crowd::Pressure::critical;
}

// Whether the origin was asked for the response after the request had arrived, and no cache on the
// way could answer. A request with no-cache demands no more (RFC 9111 5.2.1.4).
bool is_fresh_enough(const fill::FillHead& head, const fetching::Lookup& lookup) {
  const auto& asked = head.provenance.asked_past_caches;
  return asked && *asked >= lookup.asked;
}

// Whether the response that another request fetches answers this one, too.
bool answers(const fill::FillHead& head, const policy::Request& request,
             const fetching::Lookup& lookup, cache::Time now) {
  if (!head.shareable || !head.entry->variant().matches(request.head.fields)) return false;
  if (head.provenance.stood_in) {
    if (policy::is_of_neighbour(request))
      return false;  // each proxy decides by itself what may stand in
    return cache::may_stand_in(request.facts, *head.entry, now, *head.provenance.stood_in);
  }
  const cache::Found found{head.entry};
  if (cache::judge(request.facts, found, now).action == Action::serve) return true;
  if (!request.facts.control.no_cache || !is_fresh_enough(head, lookup)) return false;
  auto facts = request.facts;
  facts.control.no_cache = false;
  return cache::judge(facts, found, now).action == Action::serve;
}

// Whether the stale entry may answer this request after another request's fill has failed. The
// other request may have set bounds on freshness that this one does not set.
bool may_have_stale(const client::Client& client, const policy::Request& request,
                    const fetching::Lookup& lookup, const upstream::Failure& failure) {
  const auto& access = client.access;
  const auto leave = request.policy().leave_after(failure);
  if (!lookup.stored()) return false;
  const auto& stored = *lookup.stored();
  if (stored.is_object() &&
      blocks::presence(access.fetching, request, lookup.key, stored) != blocks::Presence::stored)
    return false;
  return cache::may_stand_in(request.facts, stored, access.clock().now(), leave);
}

// If the response is too old for this request and will be stored soon, waits for that: the request
// then costs a validation, not a whole body.
Task<void> await_stored(client::Client& client, const policy::Request& request,
                        const fetching::Lookup& lookup, fill::FillReader& reader,
                        const fill::FillHead& head) {
  const bool too_old = request.facts.control.no_cache && !is_fresh_enough(head, lookup);
  const bool soon = head.provenance.stored && head.length && *head.length <= kShort;
  if (!too_old || !soon) co_return;
  const auto until = client.access.clock().steady() + kStoredSoon;
  while (!reader.is_over()) {
    if (!reader.at_hand().empty()) continue;
    const auto woken = co_await client.wake_by().wait_until(until);
    if (woken == net::Wakeup::Woken::timed_out) co_return;
  }
}

// Answers from another request's fill, if it fits. Returns false if nothing was sent.
Task<bool> read_others(client::Client& client, const policy::Request& request,
                       const fetching::Lookup& lookup, std::unique_ptr<fill::FillReader> reader) {
  const auto reason = lookup.verdict.reason;
  const client::ResponseState::WaitsFor waits(client.state, [&reader] { reader->leave(); });
  const client::ResponseState::ReadsFrom reading(client.state, *reader);
  const auto head = co_await reader->head();
  if (client.state.was_cut) co_return true;
  if (!head) {
    if (head.error().what == upstream::Failure::What::abandoned) co_return false;
    if (may_have_stale(client, request, lookup, head.error())) co_return false;
    client.record.collapsed = true;
    co_await reply::refuse(client, request, head.error(), reason);
    co_return true;
  }
  // A request for a part does not wait for the whole.
  if (lookup.verdict.part && !(*head)->entry->is_object()) co_return false;
  if (!answers(**head, request, lookup, client.access.clock().now())) {
    co_await await_stored(client, request, lookup, *reader, **head);
    co_return client.state.was_cut;
  }
  client.record.collapsed = true;
  const auto delivered = co_await reply::deliver(client, request, *reader,
                                                 {**head, reason, reply::OnOutdated::begin_anew});
  client.record.collapsed = delivered == reply::Delivered::sent;
  if (delivered == reply::Delivered::begin_anew) co_return false;
  client.access.counters().collapsed.add();
  co_return true;
}

// Searches memory again for an entry that another fill may have stored since the first search.
std::optional<fetching::Lookup> look_again(blocks::FetchAccess& access,
                                           const policy::Request& request,
                                           const fetching::Lookup& first) {
  if (first.anew) return std::nullopt;  // memory would give the entry that was of no use
  fetching::Lookup again;
  again.found = access.cache().in_memory(first.key, request.stored_as(), request.head.fields);
  if (!again.stored()) return std::nullopt;
  again.key = first.key;
  again.asked = first.asked;
  fetching::decide(access, request, again);
  return again;
}

// What another fill has stored since the first search: returns it if it is a hit. A fill of this
// request's own that is listed already is then given up. If it is no hit, `lookup` takes it, so
// that it is validated next.
std::optional<fetching::Lookup> stored_meanwhile(const client::ServeAccess& access,
                                                 const policy::Request& request,
                                                 fetching::Lookup& lookup,
                                                 const fill::Fills::Entered& entered) {
  if (entered.turn == fill::Fills::Turn::alone) return std::nullopt;
  auto again = look_again(access.fetching, request, lookup);
  if (!again) return std::nullopt;
  if (!fetching::is_hit(*again)) {
    const bool newer = again->stored() != lookup.stored();
    if (newer && again->verdict.action == Action::revalidate) lookup = std::move(*again);
    return std::nullopt;
  }
  if (entered.turn == fill::Fills::Turn::first) {
    access.cache().fills.leave(lookup.key, *entered.fill);
    // Requests that have joined it then fetch for themselves: see read_others().
    entered.fill->fail({upstream::Failure::Where::us, upstream::Failure::What::abandoned, {}});
  }
  return again;
}

fetching::RangeAsked range_asked(const blocks::FetchAccess& access, const policy::Request& request,
                                 const fetching::Lookup& lookup) {
  if (lookup.anew) return fetching::RangeAsked::again;
  const bool own = lookup.verdict.part && fetching::asks_as_it_came(access, request, lookup);
  return own ? fetching::RangeAsked::as_it_came : fetching::RangeAsked::any;
}

// A fill that nobody has fetched into yet. `asked`: the question, if the origin was asked already
// (Attempt::ask() has returned).
struct NewFill {
  std::shared_ptr<fill::Fill> fill;
  std::optional<sources::Attempt> asked;
};

std::unique_ptr<fill::FillReader> begin(client::Client& client, const policy::Request& request,
                                        const fetching::Lookup& lookup,
                                        const sources::Allowed& allowed, NewFill own) {
  auto& access = client.access.fetching;
  auto reader = fill::FillReader::attach(own.fill, client.wake_by());
  fetching::start_fetching(access,
                           {.fill = std::move(own.fill),
                            .key = lookup.key,
                            .request = std::make_unique<policy::OwnedRequest>(request),
                            .how = lookup.verdict,
                            .stored = {lookup.found.entry, lookup.found.on_disk},
                            .asked = lookup.asked,
                            .range_override = fetching::range_override(access, request, lookup),
                            .range = range_asked(access, request, lookup),
                            .sibling_range = fetching::sibling_range(access, request, lookup),
                            .allowed = allowed},
                           std::move(own.asked));
  return reader;
}

// Answers from the fill that this request began.
Task<reply::Delivered> read_own(client::Client& client, const policy::Request& request,
                                const fetching::Lookup& lookup,
                                std::unique_ptr<fill::FillReader> reader) {
  const client::ResponseState::WaitsFor waits(client.state, [&reader] { reader->leave(); });
  const client::ResponseState::ReadsFrom reading(client.state, *reader);
  auto news = reader->news();
  for (; !news.head; news = reader->news()) {
    if (news.interim) {
      co_await client.response.interim(*news.interim);
    } else {
      co_await client.wake_by().wait();
    }
  }
  const auto head = *news.head;
  const auto reason = lookup.verdict.reason;
  if (!head) {
    client.record.asked = reader->end().asked;
    co_await reply::refuse(client, request, head.error(), reason);
    co_return reply::Delivered::sent;
  }
  client.state.fields += (*head)->asker_fields;
  const auto on_outdated = lookup.anew ? reply::OnOutdated::refuse : reply::OnOutdated::begin_anew;
  co_return co_await reply::deliver(client, request, *reader, {**head, reason, on_outdated});
}

// The first of: another request's fill, what a fill has stored meanwhile, a fill of our own. If the
// origin was `asked` already, a fill of our own takes the question over.
Task<reply::Delivered> answer_by_fill(client::Client& client, const policy::Request& request,
                                      fetching::Lookup& lookup, sources::Allowed allowed,
                                      std::optional<sources::Attempt> asked) {
  auto& access = client.access;
  auto& fills = access.cache().fills;
  const fill::FillPlace place{access.executor(), &access.clock()};
  const auto& url = request.stored_as();
  auto entered = !asked && allowed.share
                     ? fills.enter(lookup.key, url, place, access.deadlines.now())
                     : fill::Fills::alone(url, place);
  // The fill may have begun before a request with no-cache arrived. The next fill then serves this
  // request, and all others that have waited for the first.
  for (int joins = 0; entered.turn == fill::Fills::Turn::join; ++joins) {
    auto reader = fill::FillReader::attach(entered.fill, client.wake_by());
    if (!reader) break;
    const bool answered = co_await read_others(client, request, lookup, std::move(reader));
    if (answered) co_return reply::Delivered::sent;
    if (!request.facts.control.no_cache || joins > 0) break;
    entered = fills.enter(lookup.key, url, place, access.deadlines.now(), entered.fill.get());
  }
  const bool has_joined = entered.turn == fill::Fills::Turn::join;
  const auto stored_before = lookup.stored();
  if (auto stored = stored_meanwhile(access, request, lookup, entered)) {
    co_await answer_hit(client, request, *stored);
    co_return reply::Delivered::sent;
  }
  // A fill of another request is of no use here, and may have shown why.
  if (has_joined) entered = fill::Fills::alone(url, place);
  if (has_joined || lookup.stored() != stored_before)
    allowed = fetching::allowed_for(access.fetching, request, lookup);
  NewFill own{std::move(entered.fill), std::move(asked)};
  auto reader = begin(client, request, lookup, allowed, std::move(own));
  co_return co_await read_own(client, request, lookup, std::move(reader));
}

// Whether the miss is probably for this client alone: other requests may not have its response, or
// could not have the last one. Only a plain question to the origin itself counts.
bool is_for_one(const client::Client& client, const policy::Request& request,
                const fetching::Lookup& lookup, const sources::Allowed& allowed) {
  auto& access = client.access;
  const auto& fields = request.head.fields;
  // A fill compares what the client has with what the origin answers.
  const bool is_conditional = fields.may_have(http::field::if_none_match) ||
                              fields.may_have(http::field::if_modified_since);
  const auto& verdict = lookup.verdict;
  const bool is_plain = verdict.action == Action::fetch && !verdict.part && !lookup.anew &&
                        !lookup.stored() && !is_conditional;
  if (allowed.share || allowed.neighbours()) return false;
  if (!is_plain || is_critical(access)) return false;
  return request.terms().uses_parents && !sources::route_of(request).has_parents();
}

Task<void> pass_on(client::Client& client, const http::ResponseHead& interim) {
  const auto text = sources::interim_text(interim, client.access.name());
  co_await client.response.interim(text);
}

// An answer that nothing stores, whose whole body has come.
struct Whole {
  net::TakenBytes body;
  cache::Storability storability;
};

std::optional<Whole> whole_answer(const client::Client& client, const policy::Request& request,
                                  const fetching::OriginQuestion& asked, sources::Attempt& answer) {
  if (!answer.outcome()) return std::nullopt;
  const auto& head = answer.head();
  if (policy::digest_of(head.fields, request)) return std::nullopt;    // the fill's writer verifies
  if (reply::why_kept_back(client, head.status)) return std::nullopt;  // the fill's readers refuse
  if (fetching::said_by(head, asked, request) != fetching::OriginSays::response)
    return std::nullopt;
  const auto control = sources::control_for(request, head);
  const auto storability = fetching::storability_of(head, asked, request, answer.times(), control);
  if (storability == cache::Storability::yes) return std::nullopt;
  auto body = answer.fetch().whole_body();
  if (!body) return std::nullopt;
  return Whole{std::move(*body), storability};
}

// Passes the whole answer on. First gives back the connection that the answer came by: a client
// that does not read must not keep it.
Task<void> send_whole(client::Client& client, const policy::Request& request,
                      sources::Attempt& answer, const Whole& whole, Forward reason) {
  auto& access = client.access;
  const auto bytes = whole.body.view();
  const auto from = static_cast<std::size_t>(answer.hierarchy());
  access.counters().upstream_bytes[from].add(bytes.size());
  access.counters().count(whole.storability);
  auto provenance = answer.provenance();
  provenance.storability = whole.storability;
  if (request.policy().lists_inquiries()) provenance.inquiries.list.push_back(answer.inquiry());
  reply::note_source(client, provenance, reason);
  const auto& received = answer.head();
  reply::record_content_type(client, received.fields.value(http::field::content_type));
  answer.fetch().finish();
  const auto head = reply::passed_head(access, received, answer.times());
  reply::add_cache_status(client, request);
  const std::array body{asio::const_buffer(bytes.data(), bytes.size())};
  auto sent = client.response.start(head, received.status, answer.length(), body);
  std::optional<client::ResponseState::Holds> holds;
  if (!sent.is_here()) {
    holds.emplace(client.state, access.fetching.transit, head.capacity() + whole.body.memory());
  }
  const auto error = co_await sent;
  if (error) co_return client.response.abort();
  co_await client.response.finish();
}

// The question to the origin, if it can be asked before there is a fill: the miss is for one, and a
// connection to the origin is idle, so that there is nothing to wait for but the answer.
std::optional<sources::Attempt> early_attempt(client::Client& client,
                                              const policy::Request& request,
                                              const fetching::Lookup& lookup,
                                              const sources::Allowed& allowed,
                                              const fetching::OriginQuestion& question) {
  if (!is_for_one(client, request, lookup, allowed)) return std::nullopt;
  auto& access = client.access.fetching;
  std::optional attempt(
      fetching::attempt_at_origin(access, request, question, sources::route_of(request)));
  if (!access.sources.upstream.pool.has(attempt->fetch().aimed_at())) attempt.reset();
  return attempt;
}

}  // namespace

Task<void> answer_miss(client::Client& client, const policy::Request& request,
                       fetching::Lookup lookup) {
  auto& access = client.access;
  const fetching::OriginQuestion question{lookup.verdict, nullptr};
  auto allowed = fetching::allowed_for(access.fetching, request, lookup);
  auto asked = early_attempt(client, request, lookup, allowed, question);
  if (asked) {
    const client::ResponseState::WaitsFor waits(client.state, [&asked] { asked->abandon(); });
    sources::Attempt::OnInterim interim = [&client](const auto& head) {
      return pass_on(client, head);
    };
    co_await asked->ask(std::move(interim));
  }
  if (const auto whole = asked ? whole_answer(client, request, question, *asked) : std::nullopt) {
    if (fetching::tells_of_sharing(lookup.verdict, whole->storability))
      access.cache().fills.record_unshared(lookup.key, access.deadlines.now());
    co_return co_await send_whole(client, request, *asked, *whole, lookup.verdict.reason);
  }
  if (asked && client.state.was_cut) co_return co_await reply::refuse(client, request, kOverload);
  for (;;) {
    bool room = true;
    if (!asked && is_critical(access))
      room = co_await access.crowd.relief.await_room(access.executor());
    if (!room) co_return co_await reply::refuse(client, request, kOverload);
    auto begun = std::exchange(asked, std::nullopt);
    const auto delivered =
        co_await answer_by_fill(client, request, lookup, allowed, std::move(begun));
    if (delivered == reply::Delivered::sent) co_return;
    // Only once: next time read_own() refuses.
    lookup = fetching::begin_anew(std::move(lookup), request);
    allowed = fetching::allowed_for(access.fetching, request, lookup);
  }
}

Task<bool> answer_by_new_entry(client::Client& client, const policy::Request& request,
                               const fetching::Lookup& lookup) {
  auto stored = look_again(client.access.fetching, request, lookup);
  if (!stored || stored->verdict.action != Action::serve) co_return false;
  co_await answer_hit(client, request, *stored, "");
  co_return true;
}

Task<bool> answer_by_others_fill(client::Client& client, const policy::Request& request,
                                 const fetching::Lookup& lookup, std::shared_ptr<fill::Fill> fill) {
  auto reader = fill::FillReader::attach(std::move(fill), client.wake_by());
  if (!reader) co_return false;
  co_return co_await read_others(client, request, lookup, std::move(reader));
}

}  // namespace proxy::answer
