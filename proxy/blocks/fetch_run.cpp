#include "proxy/blocks/fetch_run.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/detached.hpp>

#include "proxy/blocks/block_writer.hpp"
#include "proxy/blocks/fit.hpp"
#include "proxy/blocks/run_answer.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/sources/neighbour.hpp"
#include "proxy/tiers/object_blocks.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

using net::Task;
using std::chrono::steady_clock;

namespace {

// The same conditions as for a response of which nothing is stored: see begin() in answer/miss.cpp,
// and sibling_may_answer() in answer/what_to_ask.cpp. Any request that reads a run may fetch.
bool may_ask_neighbours(const Worker& worker, const RunJob& job) {
  auto& process = worker.process;
  const Request& request = job.request->get();
  return !request.policy().directory->peers().empty() && request.may_be_shared() &&
         !request.facts.authorization && !request.facts.control.no_cache &&
         !process.fills.recently_invalidated(job.key, request.stored_as(), steady_clock::now());
}

// Why a neighbour's answer may not supply the run's blocks; nothing where it may.
std::optional<Finding> objection_to(Attempt& answer, Process& process, const RunJob& job,
                                    const http::ByteRange& asked) {
  const auto& object = *job.run->object;
  if (fit_of(answer.head(), answer.fetch().framing(), object, asked) != Fit::range) {
    return Finding{Worth::unusable};
  }
  const auto all = with_head_of(answer, process, job, object);
  return objection(all.storability, *all.entry, answer.head(), answer.times(), job.request->get());
}

// How the run ends; nothing where the rest of it is for the origin to bring.
Task<std::optional<RunEnd>> pour_from(Worker& worker, const RunJob& job, ClaimantSearch& search,
                                      Attempt& answer) {
  job.run->take_from(answer.peer());
  BlockWriter writer(worker, {job.run, job.key, answer.hierarchy(), job.patience}, answer.fetch());
  writer.expect(kLeastSiblingRate);
  const auto poured =
      co_await writer.write(job.request->get().policy().settings.timeouts.peer_first_byte);
  answer.fetch().finish();
  search.note(answer, worth_of(poured), writer.received());
  const auto end = RunEnd::after(poured);
  if (!end.failed()) co_return end;
  job.run->begin_again();
  co_return std::nullopt;
}

// Likewise.
Task<std::optional<RunEnd>> bring_from_neighbours(Worker& worker, const RunJob& job) {
  if (!may_ask_neighbours(worker, job)) co_return std::nullopt;
  auto& process = worker.process;
  const auto& object = *job.run->object;
  const auto bytes = bytes_of(job.run->blocks(), object.body.size);
  const PartAsked part{{bytes.first, bytes.last}, cache::strong_validator(object)};
  std::string detail;
  ClaimantSearch search(worker, {job.key, job.request->get(), part}, detail);
  for (;;) {
    auto answer = co_await search.next();
    job.run->tell(detail);
    if (!answer) co_return std::nullopt;
    const auto objection = objection_to(*answer, process, job, bytes);
    if (!objection) co_return co_await pour_from(worker, job, search, *answer);
    search.note(*answer, *objection);
  }
}

Task<RunEnd> bring(Worker& worker, const RunJob& job) {
  const auto brought = co_await bring_from_neighbours(worker, job);
  if (brought) co_return *brought;
  const auto end = co_await bring_from_origin(worker, job);
  if (!end.failed() || !job.run->early()) co_return end;
  // What one connection more did not bring the first may: it alone tells what is wrong.
  worker.process.runs.decline(*job.run);
  co_return RunEnd{RunEnd::How::declined};
}

Task<void> run_to_its_end(Worker& worker, RunJob job) {
  BlockRuns::Ending ending(worker.process.runs, job.run);
  try {
    ending.end = co_await bring(worker, job);
  } catch (const std::exception& bug) {
    spdlog::error("a fetch of {} failed inside this proxy: {}", job.run->object->url, bug.what());
  }
  note_if_complete(worker.process, job.key, *job.run->object);
}

}  // namespace

void start_run(Worker& worker, RunJob job) {
  net::asio::co_spawn(worker.io.get_executor(), run_to_its_end(worker, std::move(job)),
                      net::asio::detached);
}

}  // namespace proxy
