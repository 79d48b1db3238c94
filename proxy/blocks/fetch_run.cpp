#include "proxy/blocks/fetch_run.hpp"

#include <spdlog/spdlog.h>

#include "proxy/blocks/block_writer.hpp"
#include "proxy/blocks/fetch_access.hpp"
#include "proxy/blocks/fit.hpp"
#include "proxy/blocks/run_answer.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/sources/checking.hpp"
#include "proxy/sources/claimant_search.hpp"
#include "proxy/tiers/object_blocks.hpp"

namespace proxy {

using net::Task;
using std::chrono::steady_clock;

namespace {

// The part of the asked range that a neighbour's answer has. A neighbour that holds no more gives
// the first blocks alone.
http::ByteRange bytes_given(const Attempt& answer, const http::ByteRange& asked) {
  const auto part = cache::range_of(answer.head());
  return part && is_first_of(*part, {asked.first, asked.last}) ? part->range : asked;
}

// Why a neighbour's answer may not supply the run's blocks; nothing if it may.
std::optional<Finding> objection_to(Attempt& answer, Cache& cache, const RunJob& job,
                                    const http::ByteRange& asked) {
  const auto& object = *job.run->object;
  const auto given = bytes_given(answer, asked);
  const auto fit = fit_of(answer.head(), answer.fetch().framing(), object, given);
  if (fit == Fit::changed) return Finding{Worth::unusable, peers::FalseHit::unfit};
  if (fit != Fit::range) return Finding{Worth::other_range};
  const auto all = with_head_of(answer, cache, job, object);
  return objection(all.storability, *all.entry, answer.head(), answer.times(), job.request->get());
}

// The object's head tells nothing of a neighbour that gave only blocks.
void check_some(FetchAccess& access, const RunJob& job, const peers::PeerRef& peer) {
  const auto& object = job.run->object;
  if (object->giver().tag != peer->tag) return;
  if (is_to_be_checked(access.sources, job.request->get()))
    check_given(access.sources, job.request->get(), {object, object->body.size, peer});
}

// Writes a neighbour's answer. `last`: the last block that it has. Returns how the run ends, or
// that the answer failed.
Task<RunEnd> write_from(FetchAccess& access, const RunJob& job, ClaimantSearch& search,
                        Inquiries& inquiries, Attempt& answer, std::uint32_t last) {
  job.run->take_from(answer.peer());
  inquiries.add(answer.inquiry());
  job.run->tell(inquiries);
  BlockWriter writer(access, {job.run, job.key, job.patience, last}, answer);
  writer.expect(kLeastSiblingRate);
  const auto written = co_await writer.write(search.body_idle(answer));
  answer.fetch().finish();
  search.note(answer, worth_of(written), writer.received());
  job.run->tell(inquiries);
  if (written) check_some(access, job, answer.peer());
  co_return RunEnd::after(written);
}

// Asks until a neighbour has the rest of the run. Nothing: none has.
Task<std::optional<RunEnd>> fetch_from_one(FetchAccess& access, const RunJob& job,
                                           OthersLeft left) {
  const auto& object = *job.run->object;
  const auto bytes = bytes_of(job.run->rest().blocks, object.body.size);
  const PartAsked part{{bytes.first, bytes.last}, cache::strong_validator(object), true};
  Inquiries inquiries{.listed = job.request->get().policy().lists_inquiries()};
  ClaimantSearch::For wanted{job.key, job.request->get(), {part}};
  wanted.nobody_else = left == OthersLeft::none;
  ClaimantSearch search(access.sources, std::move(wanted), inquiries);
  for (;;) {
    auto answer = co_await search.next();
    job.run->tell(inquiries);
    if (!answer) co_return std::nullopt;
    const auto objection = objection_to(*answer, access.cache(), job, bytes);
    if (!objection) {
      search.settle();
      const auto blocks = cache::blocks_of(bytes_given(*answer, bytes));
      co_return co_await write_from(access, job, search, inquiries, *answer, blocks.last);
    }
    search.note(*answer, *objection);
  }
}

// Whether blocks are left after an answer: it had only the first ones.
bool goes_on(BlockRun& run) {
  const auto left = run.rest().blocks;
  return left.first <= left.last && run.wanted();
}

Task<RunEnd> fetch_blocks(FetchAccess& access, const RunJob& job) {
  const auto fetched = co_await fetch_from_neighbours(access, job, OthersLeft::origin);
  if (fetched) co_return *fetched;
  std::optional<BegunRest> begun;
  const auto end = co_await fetch_from_origin(access, job, std::move(begun));
  if (!end.failed() || !job.run->early()) co_return end;
  // The blocks return to the run that ceded them. Only if that run fails, too, do readers get a
  // failure.
  access.runs.decline(*job.run);
  co_return RunEnd{RunEnd::How::declined};
}

Task<void> run_to_its_end(FetchAccess& access, RunJob job) {
  BlockRuns::Ending ending(access.runs, job.run);
  try {
    ending.end = co_await fetch_blocks(access, job);
  } catch (const std::exception& bug) {
    spdlog::error("a fetch of {} failed inside this proxy: {}", job.run->object->url(), bug.what());
  }
  note_kept_blocks(access.cache(), job.key, *job.run->object);
}

}  // namespace

Task<std::optional<RunEnd>> fetch_from_neighbours(FetchAccess& access, const RunJob& job,
                                                  OthersLeft left) {
  const auto& request = job.request->get();
  if (!may_ask_neighbours(access.cache().fills, job.key, request, access.clock().steady()))
    co_return std::nullopt;
  // A neighbour that fails rests, so each may fail once.
  for (auto peers = request.policy().directory->peers().size(); peers > 0;) {
    const auto end = co_await fetch_from_one(access, job, left);
    if (end && end->how == RunEnd::How::finished && goes_on(*job.run)) {
      job.run->take_from(nullptr);
      continue;
    }
    if (!end || !end->failed()) co_return end;
    job.run->begin_again();
    --peers;
  }
  co_return std::nullopt;
}

void start_run(FetchAccess& access, RunJob job) {
  net::spawn(access.executor(), run_to_its_end(access, std::move(job)));
}

}  // namespace proxy
