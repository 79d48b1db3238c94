#include "proxy/blocks/fetch_run.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "proxy/blocks/block_writer.hpp"
#include "proxy/blocks/run_answer.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/sources/checking.hpp"
#include "proxy/sources/claimant_search.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/upstream_request.hpp"

namespace proxy::blocks {

using net::Task;

namespace {

// The part of the asked range that a neighbour's answer has. A neighbour that holds no more gives
// the first blocks alone.
http::ByteRange bytes_given(const sources::Attempt& answer, const http::ByteRange& asked) {
  const auto part = cache::range_of(answer.head());
  return part && is_first_of(*part, {asked.first, asked.last}) ? part->range : asked;
}

// Why a neighbour's answer may not supply the run's blocks; nothing if it may.
std::optional<sources::Finding> objection_to(sources::Attempt& answer, tiers::Cache& cache,
                                             const RunJob& job, const http::ByteRange& asked) {
  const auto& object = *job.run->object;
  const auto given = bytes_given(answer, asked);
  const auto& request = job.request->get();
  const auto fit = fit_of(answer.head(), answer.fetch().framing(), object, given, request);
  if (fit == Fit::changed)
    return sources::Finding{sources::Worth::unusable, peers::FalseHit::unfit};
  if (fit != Fit::range) return sources::Finding{sources::Worth::other_range};
  const auto all = with_head_of(answer, cache, job, object);
  return sources::objection(all.storability, *all.entry, answer.head(), answer.times(), request);
}

// The object's head tells nothing of a neighbour that gave only blocks.
void check_some(FetchAccess& access, const RunJob& job, const peers::PeerRef& peer) {
  const auto& object = job.run->object;
  if (object->giver().tag != peer->tag) return;
  const auto& request = job.request->get();
  if (sources::is_to_be_checked(access.sources, request, *object, sources::Came::part))
    sources::check_given(access.sources, request, {object, object->body.size, peer});
}

// Writes a neighbour's answer. `last`: the last block that it has. Returns how the run ends, or
// that the answer failed.
Task<RunEnd> write_from(FetchAccess& access, const RunJob& job, sources::ClaimantSearch& search,
                        sources::Attempt& answer, std::uint32_t last) {
  const auto name = digest_of(*job.run->object, job.request->get());
  BlockWriter writer(access, {job.run, job.key, job.patience, last, name}, answer);
  writer.expect(kLeastSiblingRate);
  const auto written = co_await writer.write(search.body_idle(answer));
  answer.fetch().finish();
  search.record(answer, writer.worth_of(written), writer.received());
  if (written) check_some(access, job, answer.peer());
  co_return RunEnd::after(written);
}

// Asks until a neighbour has the rest of the run. Nothing: none has.
Task<std::optional<RunEnd>> fetch_from_one(FetchAccess& access, const RunJob& job,
                                           OthersLeft left) {
  const auto& object = *job.run->object;
  const auto bytes = bytes_of(job.run->rest().blocks, object.body.size);
  const sources::PartAsked part{{bytes.first, bytes.last}, cache::strong_validator(object), true};
  observe::Inquiries inquiries{.listed = job.request->get().policy().lists_inquiries()};
  sources::ClaimantSearch::For wanted{job.key, job.request->get(), {part}};
  wanted.allowed.only_origin = {};
  wanted.nobody_else = left == OthersLeft::none;
  sources::ClaimantSearch search(access.sources, std::move(wanted), inquiries);
  for (;;) {
    auto answer = co_await search.next();
    job.run->record(inquiries);
    if (!answer) co_return std::nullopt;
    const auto objection = objection_to(*answer, access.cache(), job, bytes);
    if (!objection) {
      search.settle();
      job.run->supply_from(answer->peer());
      inquiries.add(answer->inquiry());
      job.run->record(inquiries);
      const auto blocks = cache::blocks_of(bytes_given(*answer, bytes));
      const auto end = co_await write_from(access, job, search, *answer, blocks.last);
      job.run->record(inquiries);
      co_return end;
    }
    search.record(*answer, *objection);
  }
}

// A response that ends too early is followed by another one only if it has supplied this many
// bytes.
constexpr std::uint64_t kWorthAnother = 64 * 1024;
constexpr upstream::Failure kNotTheBlocks{
    upstream::Failure::Where::upstream, upstream::Failure::What::malformed, {}};

http::ByteRange bytes_left(const BlockRun::Rest& rest, const cache::Entry& object) {
  auto bytes = bytes_of(rest.blocks, object.body.size);
  bytes.first += rest.reached;
  return bytes;
}

Fit fit_of_rest(sources::Attempt& answer, const RunJob& job, const BlockRun::Rest& rest) {
  const auto& object = *job.run->object;
  return fit_of(answer.head(), answer.fetch().framing(), object, bytes_left(rest, object),
                job.request->get());
}

// The response is the whole object, though only a part of it was missing. It supplies all blocks,
// from the first one on.
void begin_with_the_first(BlockRun& run, const BlockRun::Rest& rest) {
  if (rest.reached > 0) run.begin_again();
  // Through stored blocks, too: the bytes arrive anyway, and readers wait for the order of the
  // body.
  run.replan_whole();
}

// The client's own question, if that is for the whole object.
std::optional<sources::Attempt> question_for_all(FetchAccess& access, const RunJob& job) {
  const auto& request = job.request->get();
  if (request.facts.range || job.run->early()) return std::nullopt;
  const cache::Verdict how{cache::Action::fetch, http::Forward::partial};
  auto head = sources::origin_request(request, access.name(), how);
  return sources::Attempt(access.sources, sources::origin_plan(request, std::move(head)), request);
}

// Whether the origin may have refused only this range. If it hangs up in the middle of the run,
// it has other reasons.
bool denies_range(sources::Attempt& answer, BlockRun& run, const BlockRun::Rest& rest) {
  const auto& asked = answer.outcome();
  if (asked) {
    const auto status = answer.head().status;
    const bool changed = status == 404 || status == 410 || status == 412 || status == 416;
    return upstream::may_refuse_range(status) && !changed;
  }
  // An origin that has sent some of the run's blocks grants ranges.
  const bool has_begun = rest.reached > 0 || rest.blocks.first != run.blocks().first;
  return !has_begun && upstream::may_be_refusal(asked.error());
}

RunEnd refused_end(BlockRuns& runs, BlockRun& run, const upstream::Failure& why) {
  if (run.early()) {
    runs.decline(run);
    return {RunEnd::How::declined};
  }
  run.record_refusal();
  return {RunEnd::How::refused, why};
}

// Asks for the bytes. If the origin refuses the range, and the client wants the whole object, asks
// the client's own question.
Task<sources::Attempt> answer_to(FetchAccess& access, const RunJob& job,
                                 const BlockRun::Rest& rest) {
  auto answer = rest_at_origin(access, job, rest);
  (void)co_await answer.ask();
  if (!denies_range(answer, *job.run, rest)) co_return answer;
  // Remembered, so that later requests ask this origin for the clients' own ranges.
  auto& refusals = access.range_refusals;
  const auto origin = job.request->get().target.authority();
  refusals.note_refused(origin, answer.begun());
  auto all = question_for_all(access, job);
  if (!all) co_return answer;
  (void)co_await all->ask();
  if (all->outcome() && all->head().status == 200) refusals.record_granted(origin, all->begun());
  co_return std::move(*all);
}

// Asks, unless `begun` has the answer already, and writes the response.
Task<RunEnd> fetch_rest(FetchAccess& access, const RunJob& job, BlockRun::Rest rest,
                        std::optional<sources::Attempt> begun) {
  auto& run = *job.run;
  if (!begun) begun = co_await answer_to(access, job, rest);
  auto& answer = *begun;
  const auto answered = answer.outcome();
  if (!answered && denies_range(answer, run, rest))
    co_return refused_end(access.runs, run, answered.error());
  if (!answered) co_return RunEnd{RunEnd::How::failed, answered.error()};
  const auto fit = fit_of_rest(answer, job, rest);
  if (fit == Fit::changed) {
    warn_of_change(job.request->get(), *run.object, answer.head());
    erase_object(access.cache(), job);
  }
  const bool has_blocks = fit == Fit::range || fit == Fit::whole;
  const bool good = has_blocks && may_be_kept(access.cache(), job, answer);
  if (run.early() && (fit == Fit::refused || (fit == Fit::whole && good))) {
    access.runs.decline(run);
    co_return RunEnd{RunEnd::How::declined};
  }
  if (!good) {
    run.record_refusal();
    co_return RunEnd{RunEnd::How::refused, kNotTheBlocks};
  }
  if (fit == Fit::whole) begin_with_the_first(run, rest);
  const auto name = digest_of(*run.object, job.request->get());
  BlockWriter writer(access, {job.run, job.key, job.patience, UINT32_MAX, name}, answer);
  const auto written = co_await writer.write(job.request->get().policy().settings.timeouts.body);
  answer.fetch().finish();
  co_return RunEnd::after(written);
}

bool is_worth_another(const BlockRun::Rest& before, const BlockRun::Rest& rest) {
  const auto fetched = std::uint64_t{rest.blocks.first - before.blocks.first} * cache::kBlockBytes;
  return !rest.through && fetched + rest.reached >= before.reached + kWorthAnother;
}

bool is_cut(const RunEnd& end) {
  return end.failed() && end.why.where == upstream::Failure::Where::upstream &&
         (end.why.what == upstream::Failure::What::cut ||
          end.why.what == upstream::Failure::What::timed_out);
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
  record_kept_blocks(access, job.key, *job.run->object, job.request->get());
}

}  // namespace

Task<std::optional<RunEnd>> fetch_from_neighbours(FetchAccess& access, const RunJob& job,
                                                  OthersLeft left) {
  const auto& request = job.request->get();
  const auto now = access.clock().steady();
  if (sources::why_only_origin(access.cache().fills, job.key, request, now)) co_return std::nullopt;
  // A neighbour that fails rests, so each may fail once.
  for (auto peers = request.policy().directory->peers().size(); peers > 0;) {
    const auto end = co_await fetch_from_one(access, job, left);
    if (end && end->how == RunEnd::How::finished && goes_on(*job.run)) {
      // Whoever supplies the next blocks is yet to be found.
      job.run->supply_from(nullptr);
      continue;
    }
    if (!end || !end->failed()) co_return end;
    job.run->begin_again();
    --peers;
  }
  co_return std::nullopt;
}

BlockRun::Rest whole_blocks_left(BlockRun& run) {
  auto rest = run.rest();
  rest.reached = 0;
  return rest;
}

sources::Attempt rest_at_origin(FetchAccess& access, const RunJob& job,
                                const BlockRun::Rest& asked) {
  const auto& request = job.request->get();
  const auto& object = *job.run->object;
  auto head = sources::range_request(request, access.name(), object, bytes_left(asked, object));
  return {access.sources, sources::origin_plan(request, std::move(head)), request};
}

bool has_rest(sources::Attempt& answer, const RunJob& job, const BlockRun::Rest& asked) {
  const auto fit = fit_of_rest(answer, job, asked);
  return fit == Fit::range || fit == Fit::whole;
}

Task<RunEnd> fetch_from_origin(FetchAccess& access, const RunJob& job,
                               std::optional<BegunRest> begun) {
  auto& run = *job.run;
  auto rest = begun ? begun->asked : run.rest();
  std::optional<sources::Attempt> answer;
  if (begun) answer = std::move(begun->answer);
  for (;;) {
    auto next = std::exchange(answer, std::nullopt);
    const auto end = co_await fetch_rest(access, job, rest, std::move(next));
    const auto before = std::exchange(rest, run.rest());
    // An early run that is cut is not worth another try: the run that ceded its blocks fetches
    // them.
    const bool may_go_on = is_cut(end) && !run.early() && run.wanted();
    if (!may_go_on || !is_worth_another(before, rest)) co_return end;
  }
}

void start_run(FetchAccess& access, RunJob job) {
  net::spawn(access.executor(), run_to_its_end(access, std::move(job)));
}

}  // namespace proxy::blocks
