#include "proxy/answer/answer.hpp"

#include "proxy/answer/last_hop.hpp"
#include "proxy/answer/pass.hpp"
#include "proxy/answer/tunnel.hpp"
#include "proxy/blocks/aligned_range.hpp"
#include "proxy/blocks/presence.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/cache/policy.hpp"
#include "proxy/filling/filling.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/pages/own_pages.hpp"
#include "proxy/pages/purge.hpp"
#include "proxy/reply/deliver.hpp"
#include "proxy/reply/object_answer.hpp"
#include "proxy/reply/refuse.hpp"
#include "proxy/tiers/tiers.hpp"

namespace proxy {

using cache::Action;
using http::Forward;
using net::Task;
using std::chrono::steady_clock;

namespace {

struct Decision {
  cache::Verdict verdict;
  Presence there = Presence::stored;  // of what is wanted of an object
};

// The only place that decides.
Decision decide(const Shared& shared, const Request& request, const digest::Key& key,
                cache::Found& found, cache::Time now) {
  auto there = Presence::stored;
  if (found.entry && found.entry->object) {
    there = presence(shared, request, key, *found.entry);
    // Without a strong validator what is under way can only be joined.
    const bool only_joined = cache::strong_validator(*found.entry).empty() &&
                             !request.facts.control.only_if_cached && !request.facts.offline;
    found.lacks = there == Presence::missing || (there == Presence::under_way && !only_joined);
  }
  return {cache::judge(request.facts, found, now), there};
}

bool answers_from_held(const cache::Verdict& verdict) {
  return verdict.action == Action::serve || verdict.action == Action::refresh;
}

Refusal not_answered(const Request& request, const cache::Verdict& verdict,
                     const cache::Found& found) {
  const bool only_stored = request.facts.control.only_if_cached;
  return only_stored ? Refusal::not_held(verdict, found) : Refusal::offline(verdict.reason);
}

bool sibling_may_answer(const Request& request, const cache::Verdict& verdict) {
  const auto& facts = request.facts;
  const bool simple = !verdict.part || (http::only_range(facts.ranges) && !facts.if_range);
  return verdict.action == Action::fetch && simple && request.may_be_shared() &&
         !facts.authorization && !facts.control.no_cache &&
         (verdict.reason == Forward::uri_miss || verdict.reason == Forward::vary_miss);
}

struct Miss {
  digest::Key key;
  std::shared_ptr<const cache::Entry> held;
  cache::Verdict verdict;
  Fills::Time asked;                  // before the look-up
  Presence there = Presence::stored;  // of what is wanted of an object
  bool anew = false;                  // what is held was of no use
};

// The blocks to ask for in place of the part that is wanted.
std::optional<http::AskedRange> wide_for(const Shared& shared, const Request& request,
                                         const Miss& miss) {
  const auto& verdict = miss.verdict;
  if (!shared.disk || !verdict.part || verdict.action == Action::complete) return {};
  if (!shared.disk->admits(miss.key)) return {};
  const bool begun = miss.held && miss.held->object && miss.held->range;
  return aligned_to_blocks(request.facts, begun ? miss.held->body.size : 0);
}

// What to ask for in place of what the client does: those blocks, or just its range without its
// If-Range, as what answers that may lack most of its head (RFC 9110 15.3.7).
std::optional<http::AskedRange> instead(const Shared& shared, const Request& request,
                                        const Miss& miss) {
  const auto wide = wide_for(shared, request, miss);
  const auto& facts = request.facts;
  const bool resumes = miss.verdict.part && miss.verdict.action != Action::complete;
  return wide || !resumes || !facts.if_range ? wide : http::only_range(facts.ranges);
}

// Others may wait for what this request fetches, and it for what others fetch. Of a part: where it
// may come in blocks, and no condition has to be met by what comes.
bool may_share(const Shared& shared, const Request& request, const Miss& miss) {
  const bool in_blocks = wide_for(shared, request, miss) && !request.facts.if_range;
  const bool for_all = !miss.verdict.part || in_blocks;
  return miss.verdict.reason != Forward::request && for_all && !request.facts.authorization;
}

// What is held turned out to be outdated, or of no use: as if nothing were.
Miss begun_anew(Miss miss, const Request& request) {
  miss.held = nullptr;
  miss.verdict = {Action::fetch, Forward::partial, request.facts.range};
  miss.anew = true;
  return miss;
}

void begin(Client& client, const Request& request, const Miss& miss,
           const std::shared_ptr<Fill>& fill) {
  auto& shared = client.worker.shared;
  const bool ask =
      !shared.directory.peers().empty() && sibling_may_answer(request, miss.verdict) &&
      !shared.fills.recently_invalidated(miss.key, request.stored_as(), steady_clock::now());
  start_filling(client.worker, {.fill = fill,
                                .key = miss.key,
                                .request = std::make_unique<OwnedRequest>(request),
                                .how = miss.verdict,
                                .held = miss.held,
                                .asked = miss.asked,
                                .instead = instead(shared, request, miss),
                                .ask_siblings = ask});
}

// Has what is held validated, for nobody in particular: not with a client's credentials, as what
// comes of these may not replace what is held for all.
void refresh(Client& client, const Request& request, const Miss& miss) {
  if (request.facts.authorization) return;
  auto& worker = client.worker;
  auto fill =
      worker.shared.fills.begin_refresh(miss.key, request.stored_as(), worker.io.get_executor());
  if (!fill) return;
  start_filling(worker, {.fill = std::move(fill),
                         .key = miss.key,
                         .request = std::make_unique<OwnedRequest>(request),
                         .how = {Action::revalidate, Forward::stale},
                         .held = miss.held,
                         .asked = miss.asked,
                         .refresh = true});
}

// Whether what somebody else's request fetched answers this one too.
bool answers(const FillHead& head, const Request& request, cache::Time now) {
  if (!head.shareable || !head.entry->variant.matches(request.head.fields)) return false;
  if (head.provenance.stood_in) {
    return cache::may_stand_in(request.facts, *head.entry, now, head.provenance.leave);
  }
  const cache::Found found{head.entry};
  return cache::judge(request.facts, found, now).action == Action::serve;
}

// Whether what is held may answer this one though it could not answer who asked first.
bool may_have_stale(const Client& client, const Request& request, const Miss& miss,
                    const Failure& failure) {
  const auto& shared = client.worker.shared;
  const auto leave = shared.leave_after(failure);
  if (!miss.held) return false;
  const auto& held = *miss.held;
  if (held.object && presence(shared, request, miss.key, held) != Presence::stored) return false;
  return cache::may_stand_in(request.facts, held, shared.clock.now(), leave);
}

// Reads somebody's fill; false: it is not for this request, which has to go on its own.
Task<bool> joined(Client& client, const Request& request, const Miss& miss,
                  std::unique_ptr<FillReader> reader) {
  const auto head = co_await reader->head();
  if (!head) {
    if (head.error().what == Failure::What::abandoned) co_return false;
    if (may_have_stale(client, request, miss, head.error())) co_return false;
    client.reply.record().collapsed = true;
    co_await refuse(client, request, head.error(), miss.verdict.reason);
    co_return true;
  }
  if (miss.verdict.part && !head->entry->object) co_return false;  // not made to wait for the whole
  if (!answers(*head, request, client.worker.shared.clock.now())) co_return false;
  client.reply.record().collapsed = true;
  const auto reason = miss.verdict.reason;
  const bool delivered = co_await deliver(client, request, *reader, *head, reason, true);
  if (delivered) client.worker.counters.collapsed.add();
  client.reply.record().collapsed = delivered;
  co_return delivered;
}

// False: the origin has another version by now, and nothing was sent of this one.
Task<bool> read_own(Client& client, const Request& request, const Miss& miss,
                    std::unique_ptr<FillReader> reader) {
  for (;;) {
    const auto interim = co_await reader->interim();
    if (!interim) break;
    co_await client.reply.interim(*interim);
  }
  const auto head = co_await reader->head();
  const auto reason = miss.verdict.reason;
  if (!head) {
    co_await refuse(client, request, head.error(), reason);
    co_return true;
  }
  client.reply.fields() += head->asker_fields;
  co_return co_await deliver(client, request, *reader, *head, reason, !miss.anew);
}

// From what is held.
Task<bool> serve_held(Client& client, const Request& request, const Miss& miss, cache::Time now,
                      std::string_view detail = {}) {
  if (miss.held->object) {
    HeldObject object{miss.key, miss.held, miss.there};
    co_return co_await serve_object(client, request, std::move(object), now, detail);
  }
  co_await serve(client, request, *miss.held, now, detail);
  co_return true;
}

bool serves(const Miss& miss) {
  if (miss.verdict.action == Action::complete) return miss.held->object && !miss.held->range;
  return miss.verdict.action == Action::serve;
}

// What another fill has stored since we looked.
std::optional<Miss> stored_meanwhile(const Client& client, const Request& request,
                                     const Miss& miss) {
  if (miss.anew) return {};
  auto& shared = client.worker.shared;
  auto found = shared.store.find(miss.key, request.stored_as(), request.head.fields);
  const auto decided = decide(shared, request, miss.key, found, shared.clock.now());
  Miss there{miss.key, found.entry, decided.verdict, miss.asked, decided.there};
  return serves(there) ? std::optional(std::move(there)) : std::nullopt;
}

Task<void> fetch(Client& client, const Request& request, Miss miss) {
  auto& shared = client.worker.shared;
  const auto executor = client.worker.io.get_executor();
  const auto& url = request.stored_as();
  if (shared.transit.used() > 2 * shared.transit.limit()) {  // readers that do not read
    const Failure overload{Failure::Where::us, Failure::What::overload, {}};
    co_return co_await refuse(client, request, overload);
  }
  auto entered = may_share(shared, request, miss)
                     ? shared.fills.enter(miss.key, url, executor, steady_clock::now())
                     : Fills::alone(url, executor);
  auto reader = FillReader::attach(entered.fill, executor);
  if (entered.turn == Fills::Turn::join && reader) {
    const bool answered = co_await joined(client, request, miss, std::move(reader));
    if (answered) co_return;
  }
  if (entered.turn != Fills::Turn::alone) {
    const auto there = stored_meanwhile(client, request, miss);
    if (there && entered.turn == Fills::Turn::first) {
      shared.fills.leave(miss.key, *entered.fill);
      entered.fill->fail({Failure::Where::us, Failure::What::abandoned, {}});  // see joined()
    }
    if (there) {
      reader.reset();
      const bool served = co_await serve_held(client, request, *there, shared.clock.now());
      if (served) co_return;
      miss.held = nullptr;
    }
  }
  if (!reader) {
    entered.fill = std::make_shared<Fill>(url, executor);
    reader = FillReader::attach(entered.fill, executor);
  }
  begin(client, request, miss, entered.fill);
  const bool answered = co_await read_own(client, request, miss, std::move(reader));
  if (answered) co_return;
  auto again = begun_anew(std::move(miss), request);
  co_await fetch(client, request, std::move(again));  // once: read_own()
}

// From what is held, or as if nothing were where that turns out to be outdated.
Task<void> answer_from_held(Client& client, const Request& request, Miss miss,
                            std::string_view detail) {
  const auto now = client.worker.shared.clock.now();
  const bool served = co_await serve_held(client, request, miss, now, detail);
  if (served) co_return;
  auto again = begun_anew(std::move(miss), request);
  co_await fetch(client, request, std::move(again));
}

}  // namespace

Task<void> answer(Client& client, Request& request, BodyReader& body) {
  auto& shared = client.worker.shared;
  if (is_for_us(client, request.target)) {
    request.map_to(shared.gateway.find(request.target.host(), request.target.port()));
  }
  request.follow(shared.rules);
  if (shared.settings.cache.offline) request.facts.offline = true;
  if (request.head.method == "PURGE") co_return co_await serve_purge(client, request);
  if (const auto page = own_page(client, request)) {
    co_return co_await serve_own(client, request, *page, body);
  }
  if (request.rule()) client.reply.record().rule = request.rule()->word();
  if (const auto refusal = check_access(client, request)) {
    co_return co_await refuse(client, request, *refusal);
  }
  if (!request.may_exist()) {
    co_return co_await refuse(client, request, Refusal::unknown_url());
  }
  request.tell_of_client(shared.settings.forwarded, client.address);
  const bool looped = http::via_names(request.head.fields, shared.name);
  if (is_last_hop(request)) co_return co_await answer_as_last(client, request);
  if (request.target.form() == http::Target::Form::authority) {
    if (looped || request.framing.has_body()) {
      auto refusal = looped ? Refusal::loop() : Refusal::bad("CONNECT has no body");
      co_return co_await refuse(client, request, std::move(refusal));
    }
    if (request.facts.offline) {
      co_return co_await refuse(client, request, Refusal::offline(Forward::method));
    }
    co_return co_await tunnel(client, request);
  }

  const auto key = digest::key_of(digest::Method::get, request.stored_as());
  const auto asked = steady_clock::now();
  note_asked(shared, request, key);
  auto found = shared.store.find(key, request.stored_as(), request.head.fields);
  offer_to_disk(shared, key, found.entry);
  if (may_be_below(shared, request, key, found)) {
    auto back = co_await read_back(client.worker, request, key, std::move(found), asked);
    found = std::move(back.found);
    client.reply.record().from_disk = back.from_disk;
  }
  const auto now = shared.clock.now();  // the disk may have let it wait
  const auto decided = decide(shared, request, key, found, now);
  const auto& verdict = decided.verdict;
  Miss miss{key, found.entry, verdict, asked, decided.there};
  if (looped && !answers_from_held(verdict)) {
    co_return co_await refuse(client, request, Refusal::loop());
  }
  switch (verdict.action) {
    case Action::refresh:
      if (!looped) refresh(client, request, miss);
      co_return co_await answer_from_held(client, request, std::move(miss),
                                          "stale-while-revalidate");
    case Action::serve: {
      const bool stale = request.facts.offline && verdict.reason != Forward::none;
      const std::string_view detail = stale ? "offline" : "";
      co_return co_await answer_from_held(client, request, std::move(miss), detail);
    }
    case Action::refuse: {
      auto refusal = not_answered(request, verdict, found);
      co_return co_await refuse(client, request, std::move(refusal));
    }
    case Action::pass: {
      // Named: see tests/house_test.sh.
      auto stale = verdict.reason == Forward::stale ? found.entry : nullptr;
      co_return co_await pass(client, request, body, verdict.reason, std::move(stale));
    }
    case Action::fetch:
    case Action::revalidate:
    case Action::complete:
      if (serves(miss)) co_return co_await answer_from_held(client, request, std::move(miss), "");
      co_return co_await fetch(client, request, std::move(miss));
  }
}

}  // namespace proxy
