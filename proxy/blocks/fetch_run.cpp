#include "proxy/blocks/fetch_run.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/detached.hpp>

#include "proxy/blocks/pouring.hpp"
#include "proxy/cache/combine.hpp"
#include "proxy/fill/upstream_request.hpp"
#include "proxy/origin.hpp"
#include "proxy/tiers.hpp"
#include "proxy/worker.hpp"

namespace proxy {

using net::Task;

namespace {

constexpr int kMostInterimHeads = 32;
constexpr Failure kNotTheBlocks{Failure::Where::upstream, Failure::What::malformed, {}};
constexpr Failure kRunEnded{Failure::Where::us, Failure::What::abandoned, {}};

http::ByteRange bytes_of(const cache::BlockRun& blocks, std::uint64_t length) {
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

// Drops that very version.
void drop_object(Shared& shared, const RunJob& job) {
  const auto& object = *job.run->object;
  const auto found = shared.store.find(job.key, object.url, job.request->get().head.fields);
  const bool same =
      found.entry && found.entry->object && found.entry->object->version == object.object->version;
  if (same) drop(shared, job.key, object.url);
}

Task<Outcome<Fit>> ask_for(Fetch& fetch, const cache::Entry& object, http::ByteRange bytes) {
  const auto sent = co_await fetch.start();
  if (!sent) co_return sent.error();
  for (int interims = 0; interims <= kMostInterimHeads; ++interims) {
    const auto head = co_await fetch.response();
    if (!head) co_return head.error();
    if (!(*head)->interim()) co_return fit_of(**head, fetch.framing(), object, bytes);
  }
  co_return kNotTheBlocks;
}

// Why it ended.
Task<Failure> bring(Worker& worker, const RunJob& job) {
  auto& shared = worker.shared;
  const auto& object = *job.run->object;
  const auto blocks = shared.runs.blocks(*job.run);
  const auto bytes = bytes_of(blocks, object.body.size);
  Fetch fetch(worker.upstream, plan_for(worker, job.request->get(), object, bytes));
  const auto fit = co_await ask_for(fetch, object, bytes);
  if (!fit) co_return fit.error();
  if (*fit == Fit::changed) drop_object(shared, job);
  if (job.run->early() && (*fit == Fit::whole || *fit == Fit::refused)) {
    shared.runs.decline(*job.run);
    co_return kRunEnded;
  }
  if (*fit == Fit::changed || *fit == Fit::refused) {
    job.run->note_refused();
    co_return kNotTheBlocks;
  }
  if (*fit == Fit::whole) {
    shared.runs.replan(*job.run, {0, cache::blocks_in(object.body.size) - 1}, true);
  }
  Pouring pouring(worker, {job.run, job.key}, fetch);
  const auto poured = co_await pouring.pour(shared.settings.timeouts.body);
  fetch.finish();
  if (!poured) co_return poured.error();
  co_return kRunEnded;
}

Task<void> run_to_its_end(Worker& worker, RunJob job) {
  Runs::Ending ending(worker.shared.runs, job.run);
  try {
    ending.why = co_await bring(worker, job);
  } catch (const std::exception& bug) {
    spdlog::error("a fetch of {} failed inside this proxy: {}", job.run->object->url, bug.what());
  }
  note_if_complete(worker.shared, job.key, *job.run->object);
}

}  // namespace

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
