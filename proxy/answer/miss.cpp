#include "proxy/answer/miss.hpp"

#include "proxy/answer/hit.hpp"
#include "proxy/answer/what_to_ask.hpp"
#include "proxy/filling/filling.hpp"
#include "proxy/reply/deliver.hpp"
#include "proxy/reply/refuse.hpp"

namespace proxy {

using cache::Action;
using http::Forward;
using net::Task;
using std::chrono::steady_clock;

namespace {

void begin(Client& client, const Request& request, const Lookup& lookup,
           const std::shared_ptr<Fill>& fill) {
  auto& process = client.worker.process;
  // For a while after an invalidation siblings may still hold the outdated response.
  const bool ask =
      !request.policy().directory->peers().empty() && sibling_may_answer(request, lookup.verdict) &&
      !process.fills.recently_invalidated(lookup.key, request.stored_as(), steady_clock::now());
  start_filling(client.worker, {.fill = fill,
                                .key = lookup.key,
                                .request = std::make_unique<OwnedRequest>(request),
                                .how = lookup.verdict,
                                .held = lookup.stored(),
                                .asked = lookup.asked,
                                .range_override = range_override(process, request, lookup),
                                .ask_siblings = ask});
}

// Whether what another request fetched answers this one, too.
bool answers(const FillHead& head, const Request& request, cache::Time now) {
  if (!head.shareable || !head.entry->variant.matches(request.head.fields)) return false;
  if (head.provenance.stood_in) {
    return cache::may_stand_in(request.facts, *head.entry, now, head.provenance.leave);
  }
  const cache::Found found{head.entry};
  return cache::judge(request.facts, found, now).action == Action::serve;
}

// Whether the stale entry may answer this request after another request's fill has failed. That
// request may have set bounds on freshness which this one does not.
bool may_have_stale(const Client& client, const Request& request, const Lookup& lookup,
                    const Failure& failure) {
  const auto& process = client.worker.process;
  const auto leave = request.policy().leave_after(failure);
  if (!lookup.stored()) return false;
  const auto& stored = *lookup.stored();
  if (stored.object && presence(process, request, lookup.key, stored) != Presence::stored)
    return false;
  return cache::may_stand_in(request.facts, stored, process.clock.now(), leave);
}

enum class Joined {
  answered,
  unfit,  // the fill does not answer this request; nothing was sent
};

// Answers from another request's fill, if it fits.
Task<Joined> read_others(Client& client, const Request& request, const Lookup& lookup,
                         std::unique_ptr<FillReader> reader) {
  const auto reason = lookup.verdict.reason;
  const auto head = co_await reader->head();
  if (!head) {
    if (head.error().what == Failure::What::abandoned) co_return Joined::unfit;
    if (may_have_stale(client, request, lookup, head.error())) co_return Joined::unfit;
    client.record.collapsed = true;
    co_await refuse(client, request, head.error(), reason);
    co_return Joined::answered;
  }
  // A request for a part does not wait for the whole.
  if (lookup.verdict.part && !head->entry->object) co_return Joined::unfit;
  if (!answers(*head, request, client.worker.process.clock.now())) co_return Joined::unfit;
  client.record.collapsed = true;
  const auto delivered =
      co_await deliver(client, request, *reader, *head, reason, OnOutdated::begin_anew);
  client.record.collapsed = delivered == Delivered::sent;
  if (delivered == Delivered::begin_anew) co_return Joined::unfit;
  client.worker.counters.collapsed.add();
  co_return Joined::answered;
}

// Answers from the fill that this request began.
Task<Delivered> read_own(Client& client, const Request& request, const Lookup& lookup,
                         std::unique_ptr<FillReader> reader) {
  for (;;) {
    const auto interim = co_await reader->interim();
    if (!interim) break;
    co_await client.response.interim(*interim);
  }
  const auto head = co_await reader->head();
  const auto reason = lookup.verdict.reason;
  if (!head) {
    co_await refuse(client, request, head.error(), reason);
    co_return Delivered::sent;
  }
  client.response.fields() += head->asker_fields;
  const auto on_outdated = lookup.anew ? OnOutdated::refuse : OnOutdated::begin_anew;
  co_return co_await deliver(client, request, *reader, *head, reason, on_outdated);
}

// Answers from what another fill has stored since the first search; a fill of this request's own
// that is listed already is given up, and `reader`, which reads it, is reset.
Task<Joined> serve_stored_meanwhile(Client& client, const Request& request, Lookup& lookup,
                                    const Fills::Entered& entered,
                                    std::unique_ptr<FillReader>& reader) {
  auto& fills = client.worker.process.fills;
  if (entered.turn == Fills::Turn::alone) co_return Joined::unfit;
  const auto stored = look_again(client.worker.process, request, lookup);
  if (!stored) co_return Joined::unfit;
  if (entered.turn == Fills::Turn::first) {
    fills.leave(lookup.key, *entered.fill);
    // Its readers go on by themselves: see read_others().
    entered.fill->fail({Failure::Where::us, Failure::What::abandoned, {}});
  }
  reader.reset();
  const auto delivered = co_await serve_hit(client, request, *stored);
  if (delivered == Delivered::sent) co_return Joined::answered;
  lookup.found.entry = nullptr;
  co_return Joined::unfit;
}

Task<Delivered> answer_by_fill(Client& client, const Request& request, Lookup& lookup) {
  auto& process = client.worker.process;
  const auto executor = client.worker.io.get_executor();
  const auto& url = request.stored_as();
  auto entered = may_share(process, request, lookup)
                     ? process.fills.enter(lookup.key, url, executor, steady_clock::now())
                     : Fills::alone(url, executor);
  auto reader = FillReader::attach(entered.fill, executor);
  if (entered.turn == Fills::Turn::join && reader) {
    const auto joined = co_await read_others(client, request, lookup, std::move(reader));
    if (joined == Joined::answered) co_return Delivered::sent;
  }
  const auto found = co_await serve_stored_meanwhile(client, request, lookup, entered, reader);
  if (found == Joined::answered) co_return Delivered::sent;
  if (!reader) {  // the fill was another's, or is given up
    entered.fill = std::make_shared<Fill>(url, executor);
    reader = FillReader::attach(entered.fill, executor);
  }
  begin(client, request, lookup, entered.fill);
  co_return co_await read_own(client, request, lookup, std::move(reader));
}

bool overloaded(const Process& process) {
  return process.transit.used() > 2 * process.transit.limit();  // by clients that do not read
}

}  // namespace

Task<void> answer_miss(Client& client, const Request& request, Lookup lookup) {
  for (;;) {
    if (overloaded(client.worker.process)) {
      const Failure overload{Failure::Where::us, Failure::What::overload, {}};
      co_return co_await refuse(client, request, overload);
    }
    const auto delivered = co_await answer_by_fill(client, request, lookup);
    if (delivered == Delivered::sent) co_return;
    lookup = begin_anew(std::move(lookup), request);  // once: read_own() then refuses
  }
}

void refresh(Client& client, const Request& request, const Lookup& lookup) {
  // What a client's credentials fetch may not replace what is stored for everybody.
  if (request.facts.authorization) return;
  auto& worker = client.worker;
  auto fill =
      worker.process.fills.begin_refresh(lookup.key, request.stored_as(), worker.io.get_executor());
  if (!fill) return;
  start_filling(worker, {.fill = std::move(fill),
                         .key = lookup.key,
                         .request = std::make_unique<OwnedRequest>(request),
                         .how = {Action::revalidate, Forward::stale},
                         .held = lookup.stored(),
                         .asked = lookup.asked,
                         .refresh = true});
}

}  // namespace proxy
