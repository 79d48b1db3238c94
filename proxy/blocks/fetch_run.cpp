#include "proxy/blocks/fetch_run.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/detached.hpp>
#include <utility>

#include "proxy/blocks/block_writer.hpp"
#include "proxy/cache/combine.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/cache/revalidation.hpp"
#include "proxy/sources/discard.hpp"
#include "proxy/sources/false_hit.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/upstream_request.hpp"
#include "proxy/tiers/object_blocks.hpp"
#include "proxy/tiers/tiers.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

using net::Task;
using std::chrono::steady_clock;

namespace {

constexpr int kMostInterimHeads = 32;  // of an origin; a sibling sends at once what it has
// So much each answer of an origin that ends too early has to bring to be followed by another.
constexpr std::uint64_t kWorthAnother = 64 * 1024;
constexpr Failure kNotTheBlocks{Failure::Where::upstream, Failure::What::malformed, {}};
constexpr Failure kRunEnded{Failure::Where::us, Failure::What::abandoned, {}};

http::ByteRange bytes_of(const cache::BlockRange& blocks, std::uint64_t length) {
  return {cache::bytes_of_block(blocks.first, length).first,
          cache::bytes_of_block(blocks.last, length).last};
}

FetchPlan plan_for(const Worker& worker, const Request& request, const cache::Entry& object,
                   const http::ByteRange& bytes) {
  const auto& shared = worker.shared;
  FetchPlan plan;
  plan.head = range_request(request, shared.name, object, bytes);
  plan.method = "GET";
  plan.connect = shared.settings.timeouts.connect;
  plan.first_byte = shared.settings.timeouts.first_byte;
  aim(plan, request, shared.lists);
  return plan;
}

// The entry of that very version, if it is still in force.
std::shared_ptr<const cache::Entry> object_held(Shared& shared, const RunJob& job) {
  const auto& object = *job.run->object;
  auto held = shared.store.find(job.key, object.url, job.request->get().head.fields).entry;
  return held && held->object == object.object ? held : nullptr;
}

// What one client's credentials brought says nothing against what is held for all.
void drop_object(Shared& shared, const RunJob& job) {
  if (job.request->get().facts.authorization) return;
  if (object_held(shared, job)) drop(shared, job.key, job.run->object->url);
}

Task<Outcome<Fit>> ask_for(Fetch& fetch, const cache::Entry& object, http::ByteRange bytes,
                           int most_interims) {
  const auto sent = co_await fetch.start();
  if (!sent) co_return sent.error();
  for (int interims = 0; interims <= most_interims; ++interims) {
    const auto head = co_await fetch.response();
    if (!head) co_return head.error();
    if (!(*head)->interim()) co_return fit_of(**head, fetch.framing(), object, bytes);
  }
  co_return kNotTheBlocks;
}

// An answer that has what was asked for.
struct Answer {
  const http::ResponseHead& head;
  cache::Times times;
  Asked asked;  // before it was
  cache::SourceKind source = cache::SourceKind::origin;
};

// What is held with the answer's head (RFC 9111 3.4), and whether that may be kept.
cache::Freshened with_head(Shared& shared, const RunJob& job, const cache::Entry& held,
                           const Answer& answer) {
  const auto& request = job.request->get();
  const cache::Received message{.url = held.url,
                                .request = request.head.fields,
                                .response = answer.head,
                                .times = answer.times,
                                .our_name = shared.name,
                                .source = answer.source,
                                .shared = request.may_be_shared(),
                                .targets = targets_for(request, shared.settings.cache),
                                .bounds = request.facts.freshness};
  auto all = cache::with_part(shared.budget, held, request.facts, message, {});
  all.entry->body.size = job.run->object->body.size;
  return all;
}

bool is_stricter(const cache::Entry& newer, const cache::Entry& held) {
  constexpr std::chrono::seconds kOfRounding{1};
  return (newer.no_cache && !held.no_cache) || (newer.never_stale && !held.never_stale) ||
         newer.fresh_until + kOfRounding < held.fresh_until;
}

// Whether it is the request that does not let it be kept, which says nothing of what is held.
bool is_of_request(cache::Storability storability) {
  return storability == cache::Storability::request_no_store ||
         storability == cache::Storability::site || storability == cache::Storability::method;
}

// Whether the origin's answer may be kept, and so be given to all who wait for it: then what is
// held is no fresher than it says from now on.
bool may_be_kept(Shared& shared, const RunJob& job, const Answer& answer) {
  const auto held = object_held(shared, job);
  const auto all = with_head(shared, job, held ? *held : *job.run->object, answer);
  if (all.storability != cache::Storability::yes) {
    if (!is_of_request(all.storability)) drop_object(shared, job);
    return false;
  }
  if (!held || !is_stricter(*all.entry, *held)) return true;
  const bool kept = keep(shared, job.key, all.entry, answer.asked, held.get());
  if (!kept) drop_object(shared, job);
  return true;
}

enum class Tried {
  over,    // the run is
  next,    // another source may do better
  origin,  // time was lost: no more neighbours
};

// As for what is not held at all: see answer.cpp. Whoever reads a run may fetch.
bool siblings_may_bring(const Worker& worker, const RunJob& job) {
  auto& shared = worker.shared;
  const Request& request = job.request->get();
  return !shared.directory.peers().empty() && request.may_be_shared() &&
         !request.facts.authorization && !request.facts.control.no_cache &&
         !shared.fills.recently_invalidated(job.key, request.stored_as(), steady_clock::now());
}

FetchPlan plan_for_sibling(const Worker& worker, const Request& request, const peers::Peer& peer,
                           const cache::Entry& object, const http::ByteRange& bytes) {
  const auto& timeouts = worker.shared.settings.timeouts;
  const PartAsked part{{bytes.first, bytes.last}, cache::strong_validator(object)};
  FetchPlan plan;
  plan.to = {false, peer.host, peer.port, upstream::Trust::configured};
  plan.head = sibling_request(request, worker.shared.name, part);
  plan.method = "GET";
  plan.connect = timeouts.peer_connect;
  plan.first_byte = timeouts.peer_first_byte;
  return plan;
}

// Of an answer that is not the blocks asked for.
Task<void> note_answer(Worker& worker, peers::PeerRef peer, Fetch& fetch,
                       std::chrono::microseconds waited) {
  const auto status = fetch.head().status;
  const bool says_no = status == 504 || status == 502;  // Squid says either
  const bool other_version = status == 200 || status == 206 || status == 416;
  const bool wrong_claim = says_no || other_version;
  const auto outcome = wrong_claim ? peers::ClaimOutcome::false_hit : peers::ClaimOutcome::refused;
  const auto cause = says_no ? cause_of(fetch.head()) : peers::FalseHit::untold;
  worker.shared.directory.note(peer, outcome, waited, 0, steady_clock::now(), cause);
  if (says_no) co_await discard(worker, fetch);
}

Task<Tried> pour_from(Worker& worker, const RunJob& job, peers::PeerRef peer, Fetch& fetch,
                      std::chrono::microseconds waited) {
  auto& shared = worker.shared;
  job.run->take_from(peer);
  BlockWriter writer(worker, {job.run, job.key, Hierarchy::sibling, job.patience}, fetch);
  writer.expect(kLeastSiblingRate);
  const auto poured = co_await writer.write(shared.settings.timeouts.peer_first_byte);
  fetch.finish();
  if (!poured && poured.error().what == Failure::What::abandoned) co_return Tried::over;
  const auto outcome = poured ? peers::ClaimOutcome::true_hit : peers::ClaimOutcome::broken;
  shared.directory.note(peer, outcome, waited, writer.received(), steady_clock::now());
  if (poured) co_return Tried::over;
  job.run->begin_again();
  co_return Tried::origin;
}

// As for what is not held at all: see Filling::take_from_sibling().
bool is_of_use(Shared& shared, const RunJob& job, const Answer& answer) {
  const auto all = with_head(shared, job, *job.run->object, answer);
  return all.storability == cache::Storability::yes && all.entry->fresh(answer.times.response) &&
         !selected_by_withheld(answer.head, job.request->get());
}

Task<Tried> from_sibling(Worker& worker, const RunJob& job, peers::PeerRef peer) {
  auto& shared = worker.shared;
  auto& directory = shared.directory;
  const auto& request = job.request->get();
  const auto& object = *job.run->object;
  const auto bytes = bytes_of(job.run->blocks(), object.body.size);
  Fetch fetch(worker.upstream, plan_for_sibling(worker, request, *peer, object, bytes));
  const auto begun = steady_clock::now();
  const auto sent = shared.clock.now();
  const auto fit = co_await ask_for(fetch, object, bytes, 0);
  const auto answered = steady_clock::now();
  const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(answered - begun);
  if (!fit) {
    const bool slow = fit.error().what == Failure::What::timed_out;
    const auto outcome = slow ? peers::ClaimOutcome::timed_out : peers::ClaimOutcome::broken;
    directory.note(peer, outcome, {}, 0, answered);
    co_return Tried::origin;
  }
  const Answer answer{fetch.head(), {sent, shared.clock.now()}, begun, cache::SourceKind::sibling};
  if (*fit == Fit::range && is_of_use(shared, job, answer)) {
    co_return co_await pour_from(worker, job, peer, fetch, waited);
  }
  co_await note_answer(worker, peer, fetch, waited);
  co_return Tried::next;
}

// Whether nothing is left for the origin to bring.
Task<bool> from_siblings(Worker& worker, const RunJob& job) {
  if (!siblings_may_bring(worker, job)) co_return false;
  const auto claimants = worker.shared.directory.claimants(job.key, steady_clock::now());
  for (const auto& peer : claimants) {
    const auto tried = co_await from_sibling(worker, job, peer);
    if (tried != Tried::next) co_return tried == Tried::over;
  }
  co_return false;
}

Task<Failure> bring(Worker& worker, const RunJob& job) {
  const bool brought = co_await from_siblings(worker, job);
  if (brought) co_return kRunEnded;
  const Failure why = co_await bring_from_origin(worker, job);
  const bool over = why.what == Failure::What::abandoned || job.run->refused();
  if (over || !job.run->early()) co_return why;
  // What one connection more did not bring the first may: it alone tells what is wrong.
  worker.shared.runs.decline(*job.run);
  co_return kRunEnded;
}

Task<void> run_to_its_end(Worker& worker, RunJob job) {
  BlockRuns::Ending ending(worker.shared.runs, job.run);
  try {
    ending.why = co_await bring(worker, job);
  } catch (const std::exception& bug) {
    spdlog::error("a fetch of {} failed inside this proxy: {}", job.run->object->url, bug.what());
  }
  note_if_complete(worker.shared, job.key, *job.run->object);
}

// By one answer of the origin.
Task<Failure> bring_rest(Worker& worker, const RunJob& job, BlockRun::Rest rest) {
  auto& shared = worker.shared;
  const auto& object = *job.run->object;
  auto bytes = bytes_of(rest.blocks, object.body.size);
  bytes.first += rest.reached;
  Fetch fetch(worker.upstream, plan_for(worker, job.request->get(), object, bytes));
  const auto asked = steady_clock::now();
  const auto sent = shared.clock.now();
  const auto fit = co_await ask_for(fetch, object, bytes, kMostInterimHeads);
  if (!fit) co_return fit.error();
  if (*fit == Fit::changed) drop_object(shared, job);
  const bool has_it = *fit == Fit::range || *fit == Fit::whole;
  const bool good =
      has_it && may_be_kept(shared, job, {fetch.head(), {sent, shared.clock.now()}, asked});
  if (job.run->early() && (*fit == Fit::refused || (*fit == Fit::whole && good))) {
    shared.runs.decline(*job.run);
    co_return kRunEnded;
  }
  if (!good) {
    job.run->note_refused();
    co_return kNotTheBlocks;
  }
  if (*fit == Fit::whole) {
    if (rest.reached > 0) job.run->begin_again();
    job.run->replan({0, cache::blocks_in(object.body.size) - 1}, true);
  }
  BlockWriter writer(worker, {job.run, job.key, Hierarchy::direct, job.patience}, fetch);
  const auto poured = co_await writer.write(shared.settings.timeouts.body);
  fetch.finish();
  if (!poured) co_return poured.error();
  co_return kRunEnded;
}

bool is_worth_another(const BlockRun::Rest& before, const BlockRun::Rest& rest) {
  const auto brought = std::uint64_t{rest.blocks.first - before.blocks.first} * cache::kBlockBytes;
  return !rest.through && brought + rest.reached >= before.reached + kWorthAnother;
}

}  // namespace

Task<Failure> bring_from_origin(Worker& worker, const RunJob& job) {
  for (auto rest = job.run->rest();;) {
    const Failure why = co_await bring_rest(worker, job, rest);
    const auto before = std::exchange(rest, job.run->rest());
    const bool cut = why.where == Failure::Where::upstream &&
                     (why.what == Failure::What::cut || why.what == Failure::What::timed_out);
    // An early one was to be of use at once.
    const bool may_go_on = cut && !job.run->early() && job.run->wanted();
    if (!may_go_on || !is_worth_another(before, rest)) co_return why;
  }
}

Fit fit_of(const http::ResponseHead& answer, const http::Framing& framing,
           const cache::Entry& object, const http::ByteRange& asked) {
  const auto status = answer.status;
  if (status == 404 || status == 410 || status == 412 || status == 416) return Fit::changed;
  if (status != 200 && status != 206) return Fit::refused;
  if (!cache::same_representation(object, answer.fields)) return Fit::changed;
  const auto length = object.body.size;
  const bool sized = framing.kind == http::Framing::Kind::sized;
  if (status == 200) return sized && framing.length == length ? Fit::whole : Fit::changed;
  const auto part = cache::range_of(answer);
  if (!part) return Fit::refused;
  if (part->complete && *part->complete != length) return Fit::changed;
  const bool promised = !sized || framing.length == asked.size();
  return part->range == asked && part->complete && promised ? Fit::range : Fit::refused;
}

void start_run(Worker& worker, RunJob job) {
  net::asio::co_spawn(worker.io.get_executor(), run_to_its_end(worker, std::move(job)),
                      net::asio::detached);
}

}  // namespace proxy
