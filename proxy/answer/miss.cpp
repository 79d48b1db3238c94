#include "proxy/answer/miss.hpp"

#include "proxy/answer/hit.hpp"
#include "proxy/fetching/fetching.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/lookup/lookup.hpp"
#include "proxy/reply/deliver.hpp"
#include "proxy/reply/refuse.hpp"
#include "proxy/sources/origin.hpp"

namespace proxy {

using cache::Action;
using http::Forward;
using net::Task;
using std::chrono::steady_clock;

namespace {

// How often, and how many times, a request looks whether memory has room for it.
constexpr std::chrono::milliseconds kRoomLook{4};
constexpr int kMostRoomLooks = 250;

// For how long a request waits for the rest of a body, of at most this length, that will be stored.
constexpr std::chrono::milliseconds kStoredSoon{100};
constexpr std::uint64_t kShort = std::uint64_t{64} << 10;

RangeAsked range_asked(const ServeAccess& access, const Request& request, const Lookup& lookup) {
  if (lookup.anew) return RangeAsked::again;
  const bool own = lookup.verdict.part && asks_as_it_came(access.fetching, request, lookup);
  return own ? RangeAsked::as_it_came : RangeAsked::any;
}

void begin(Client& client, const Request& request, const Lookup& lookup,
           const std::shared_ptr<Fill>& fill, std::optional<Attempt> begun) {
  auto& access = client.access;
  start_fetching(client.access.fetching,
                 {.fill = fill,
                  .key = lookup.key,
                  .request = std::make_unique<OwnedRequest>(request),
                  .how = lookup.verdict,
                  .stored = {lookup.found.entry, lookup.found.on_disk},
                  .asked = lookup.asked,
                  .range_override = range_override(access.fetching, request, lookup),
                  .range = range_asked(access, request, lookup),
                  .sibling_range = sibling_range(access.fetching, request, lookup),
                  .ask_siblings = asks_siblings(access.fetching, request, lookup, lookup.verdict)},
                 std::move(begun));
}

// Whether the origin was asked for the response after the request had arrived, and no cache on the
// way could answer. A request with no-cache demands no more (RFC 9111 5.2.1.4).
bool is_fresh_enough(const FillHead& head, const Lookup& lookup) {
  const auto& asked = head.provenance.asked_past_caches;
  return asked && *asked >= lookup.asked;
}

// Whether the response that another request fetches answers this one, too.
bool answers(const FillHead& head, const Request& request, const Lookup& lookup, cache::Time now) {
  if (!head.shareable || !head.entry->variant().matches(request.head.fields)) return false;
  if (head.provenance.stood_in) {
    if (request.facts.control.only_if_cached) return false;  // it may not go to a neighbour
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
bool may_have_stale(const Client& client, const Request& request, const Lookup& lookup,
                    const Failure& failure) {
  const auto& access = client.access;
  const auto leave = request.policy().leave_after(failure);
  if (!lookup.stored()) return false;
  const auto& stored = *lookup.stored();
  if (stored.is_object() &&
      presence(access.fetching, request, lookup.key, stored) != Presence::stored)
    return false;
  return cache::may_stand_in(request.facts, stored, access.clock().now(), leave);
}

// If the response is too old for this request and will be stored soon, waits for that: the request
// then costs a validation, not a whole body.
Task<void> await_stored(Client& client, const Request& request, const Lookup& lookup,
                        FillReader& reader, const FillHead& head) {
  const bool too_old = request.facts.control.no_cache && !is_fresh_enough(head, lookup);
  const bool soon = head.provenance.stored && head.length && *head.length <= kShort;
  if (!too_old || !soon) co_return;
  const auto until = steady_clock::now() + kStoredSoon;
  while (!reader.is_over()) {
    if (!reader.at_hand().empty()) continue;
    const auto woken = co_await client.wake_by().wait_until(until);
    if (woken == Wakeup::Woken::timed_out) co_return;
  }
}

enum class Joined {
  answered,
  unfit,  // the fill does not answer this request; nothing was sent
};

// Answers from another request's fill, if it fits.
Task<Joined> read_others(Client& client, const Request& request, const Lookup& lookup,
                         std::unique_ptr<FillReader> reader) {
  const auto reason = lookup.verdict.reason;
  const ResponseWriter::WaitsFor waits(client.response, [&reader] { reader->leave(); });
  const ResponseWriter::ReadsFrom reading(client.response, *reader);
  const auto head = co_await reader->head();
  if (client.response.was_cut()) co_return Joined::answered;
  if (!head) {
    if (head.error().what == Failure::What::abandoned) co_return Joined::unfit;
    if (may_have_stale(client, request, lookup, head.error())) co_return Joined::unfit;
    client.record.collapsed = true;
    co_await refuse(client, request, head.error(), reason);
    co_return Joined::answered;
  }
  // A request for a part does not wait for the whole.
  if (lookup.verdict.part && !(*head)->entry->is_object()) co_return Joined::unfit;
  if (!answers(**head, request, lookup, client.access.clock().now())) {
    co_await await_stored(client, request, lookup, *reader, **head);
    co_return client.response.was_cut() ? Joined::answered : Joined::unfit;
  }
  client.record.collapsed = true;
  const auto delivered =
      co_await deliver(client, request, *reader, **head, reason, OnOutdated::begin_anew);
  client.record.collapsed = delivered == Delivered::sent;
  if (delivered == Delivered::begin_anew) co_return Joined::unfit;
  client.access.counters().collapsed.add();
  co_return Joined::answered;
}

// Answers from the fill that this request began.
Task<Delivered> read_own(Client& client, const Request& request, const Lookup& lookup,
                         std::unique_ptr<FillReader> reader) {
  const ResponseWriter::WaitsFor waits(client.response, [&reader] { reader->leave(); });
  const ResponseWriter::ReadsFrom reading(client.response, *reader);
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
    co_await refuse(client, request, head.error(), reason);
    co_return Delivered::sent;
  }
  client.response.fields() += (*head)->asker_fields;
  const auto on_outdated = lookup.anew ? OnOutdated::refuse : OnOutdated::begin_anew;
  co_return co_await deliver(client, request, *reader, **head, reason, on_outdated);
}

// What another fill has stored since the first search: returns it if it is a hit. A fill of this
// request's own that is listed already is then given up. If it is no hit, `lookup` takes it, so
// that it is validated next.
std::optional<Lookup> stored_meanwhile(const ServeAccess& access, const Request& request,
                                       Lookup& lookup, const Fills::Entered& entered) {
  if (entered.turn == Fills::Turn::alone) return std::nullopt;
  auto again = look_again(access.fetching, request, lookup);
  if (!again) return std::nullopt;
  if (!is_hit(*again)) {
    const bool newer = again->stored() != lookup.stored();
    if (newer && again->verdict.action == Action::revalidate) lookup = std::move(*again);
    return std::nullopt;
  }
  if (entered.turn == Fills::Turn::first) {
    access.cache().fills.leave(lookup.key, *entered.fill);
    // Requests that have joined it then fetch for themselves: see read_others().
    entered.fill->fail({Failure::Where::us, Failure::What::abandoned, {}});
  }
  return again;
}

Task<Delivered> answer_by_fill(Client& client, const Request& request, Lookup& lookup,
                               std::optional<Attempt> begun) {
  auto& access = client.access;
  const FillPlace place{client.access.executor(), &access.clock()};
  const auto& url = request.stored_as();
  auto entered =
      !begun && may_share(access.fetching, request, lookup)
          ? access.cache().fills.enter(lookup.key, url, place, client.access.deadlines.now())
          : Fills::alone(url, place);
  auto reader = FillReader::attach(entered.fill, client.wake_by());
  // The fill may have begun before a request with no-cache arrived. The next fill then serves this
  // request, and all others that have waited for the first.
  for (int fills = 0; entered.turn == Fills::Turn::join && reader; ++fills) {
    const auto joined = co_await read_others(client, request, lookup, std::move(reader));
    if (joined == Joined::answered) co_return Delivered::sent;
    if (!request.facts.control.no_cache || fills > 0) break;
    entered = access.cache().fills.enter(lookup.key, url, place, client.access.deadlines.now(),
                                         entered.fill.get());
    reader = FillReader::attach(entered.fill, client.wake_by());
  }
  if (const auto stored = stored_meanwhile(access, request, lookup, entered)) {
    reader.reset();
    const auto delivered = co_await serve_hit(client, request, *stored);
    if (delivered == Delivered::sent) co_return Delivered::sent;
    lookup.found.entry = nullptr;
  }
  if (!reader) {  // the fill belongs to another request, or was given up
    entered.fill = Fills::alone(url, place).fill;
    reader = FillReader::attach(entered.fill, client.wake_by());
  }
  begin(client, request, lookup, entered.fill, std::move(begun));
  co_return co_await read_own(client, request, lookup, std::move(reader));
}

bool is_critical(const ServeAccess& access) {
  return pressure_on(access.fetching.transit) >= Pressure::critical;
}

// Has responses cut whose clients do not read them. Waits while memory has no room for one more
// body on its way; returns whether it has.
Task<bool> make_room(const ServeAccess& access) {
  for (int looks = 0; looks < kMostRoomLooks; ++looks) {
    access.crowd.relief.look_everywhere();
    if (pressure_on(access.fetching.transit) != Pressure::full) co_return true;
    net::Timer timer(access.executor(), kRoomLook);
    co_await timer.async_wait(net::as_result);
  }
  co_return false;
}

}  // namespace

Task<void> answer_miss(Client& client, const Request& request, Lookup lookup,
                       std::optional<Attempt> begun) {
  for (;;) {
    bool room = true;
    if (is_critical(client.access)) room = co_await make_room(client.access);
    if (!room) {
      const Failure overload{Failure::Where::us, Failure::What::overload, {}};
      co_return co_await refuse(client, request, overload);
    }
    auto asked = std::exchange(begun, std::nullopt);
    const auto delivered = co_await answer_by_fill(client, request, lookup, std::move(asked));
    if (delivered == Delivered::sent) co_return;
    lookup = begin_anew(std::move(lookup), request);  // only once: next time read_own() refuses
  }
}

Task<bool> answer_by_others_fill(Client& client, const Request& request, const Lookup& lookup,
                                 std::shared_ptr<Fill> fill) {
  auto reader = FillReader::attach(std::move(fill), client.wake_by());
  if (!reader) co_return false;
  const auto joined = co_await read_others(client, request, lookup, std::move(reader));
  co_return joined == Joined::answered;
}

void refresh(Client& client, const Request& request, const Lookup& lookup, Whom whom) {
  // An answer to one client's credentials must not replace a response that is stored for all.
  if (request.facts.authorization) return;
  auto& access = client.access;
  if (origin_rests(access.fetching.sources, request)) return;
  const FillPlace place{access.executor(), &access.clock()};
  auto fill = access.cache().fills.begin_refresh(lookup.key, request.stored_as(), place);
  if (!fill) return;
  const cache::Verdict how{Action::revalidate, Forward::stale};
  const bool ask = whom == Whom::anyone && asks_siblings(access.fetching, request, lookup, how);
  start_fetching(access.fetching, {.fill = std::move(fill),
                                   .key = lookup.key,
                                   .request = std::make_unique<OwnedRequest>(request),
                                   .how = how,
                                   .stored = {lookup.found.entry, lookup.found.on_disk},
                                   .asked = lookup.asked,
                                   .ask_siblings = ask,
                                   .refresh = true});
}

void confirm_some(Client& client, const Request& request, const Lookup& lookup) {
  const auto& facts = request.facts;
  const bool looped = http::via_names(request.head.fields, client.access.name());
  if (facts.offline || facts.control.no_store || looped || !lookup.stored()->has_validator())
    return;
  const double share = request.policy().settings.digest.confirm_sample;
  if (client.access.fetching.sources.probes.chosen(share)) {
    refresh(client, request, lookup, Whom::origin);
  }
}

}  // namespace proxy
