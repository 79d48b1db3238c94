// The origin's part in a run.
#include <utility>

#include "proxy/blocks/block_writer.hpp"
#include "proxy/blocks/fetch_access.hpp"
#include "proxy/blocks/fetch_run.hpp"
#include "proxy/blocks/fit.hpp"
#include "proxy/blocks/run_answer.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/upstream_request.hpp"

namespace proxy {

using net::Task;

namespace {

// A response that ends too early is followed by another one only if it has supplied this many
// bytes.
constexpr std::uint64_t kWorthAnother = 64 * 1024;
constexpr Failure kNotTheBlocks{Failure::Where::upstream, Failure::What::malformed, {}};

http::ByteRange bytes_left(const BlockRun::Rest& rest, const cache::Entry& object) {
  auto bytes = bytes_of(rest.blocks, object.body.size);
  bytes.first += rest.reached;
  return bytes;
}

Attempt ask_for(FetchAccess& access, const RunJob& job, const BlockRun::Rest& rest) {
  const auto& request = job.request->get();
  const auto& object = *job.run->object;
  auto head = range_request(request, access.name(), object, bytes_left(rest, object));
  return {access.sources, origin_plan(request, std::move(head))};
}

Fit fit_of_rest(Attempt& answer, const cache::Entry& object, const BlockRun::Rest& rest) {
  return fit_of(answer.head(), answer.fetch().framing(), object, bytes_left(rest, object));
}

// The response is the whole object, though only a part of it was missing. It supplies all blocks,
// from the first one on.
void begin_with_the_first(BlockRun& run, const BlockRun::Rest& rest) {
  if (rest.reached > 0) run.begin_again();
  run.replan({0, cache::blocks_in(run.object->body.size) - 1}, true);
}

// The client's own question, if that is for the whole object.
std::optional<Attempt> question_for_all(FetchAccess& access, const RunJob& job) {
  const auto& request = job.request->get();
  if (request.facts.range || job.run->early()) return std::nullopt;
  const cache::Verdict how{cache::Action::fetch, http::Forward::partial};
  auto head = origin_request(request, access.name(), how);
  return Attempt(access.sources, origin_plan(request, std::move(head)));
}

// Whether the origin may have refused only this range. If it hangs up in the middle of the run,
// it has other reasons.
bool denies_range(Attempt& answer, BlockRun& run, const BlockRun::Rest& rest) {
  const auto& asked = answer.outcome();
  if (asked) {
    const auto status = answer.head().status;
    const bool changed = status == 404 || status == 410 || status == 412 || status == 416;
    return upstream::may_refuse_range(status) && !changed;
  }
  const bool has_begun = rest.reached > 0 || rest.blocks.first != run.blocks().first;
  return !has_begun && may_be_refusal(asked.error());
}

RunEnd refused_end(BlockRuns& runs, BlockRun& run, const Failure& why) {
  if (run.early()) {
    runs.decline(run);
    return {RunEnd::How::declined};
  }
  run.note_refused();
  return {RunEnd::How::refused, why};
}

// Asks for the bytes. If the origin refuses the range, and the client wants the whole object, asks
// the client's own question.
Task<Attempt> answer_to(FetchAccess& access, const RunJob& job, const BlockRun::Rest& rest) {
  auto answer = ask_for(access, job, rest);
  (void)co_await answer.ask();
  if (!denies_range(answer, *job.run, rest)) co_return answer;
  auto& refusals = access.range_refusals;
  const auto origin = job.request->get().target.authority();
  refusals.note_refused(origin, answer.begun());
  auto all = question_for_all(access, job);
  if (!all) co_return answer;
  (void)co_await all->ask();
  if (all->outcome() && all->head().status == 200) refusals.note_granted(origin, all->begun());
  co_return std::move(*all);
}

// Asks, unless `begun` has the answer already, and writes the response.
Task<RunEnd> fetch_rest(FetchAccess& access, const RunJob& job, BlockRun::Rest rest,
                        std::optional<Attempt> begun) {
  auto& run = *job.run;
  if (!begun) begun = co_await answer_to(access, job, rest);
  auto& answer = *begun;
  const auto answered = answer.outcome();
  if (!answered && denies_range(answer, run, rest))
    co_return refused_end(access.runs, run, answered.error());
  if (!answered) co_return RunEnd{RunEnd::How::failed, answered.error()};
  const auto fit = fit_of_rest(answer, *run.object, rest);
  if (fit == Fit::changed) erase_object(access.cache(), job);
  const bool has_blocks = fit == Fit::range || fit == Fit::whole;
  const bool good = has_blocks && may_be_kept(access.cache(), job, answer);
  if (run.early() && (fit == Fit::refused || (fit == Fit::whole && good))) {
    access.runs.decline(run);
    co_return RunEnd{RunEnd::How::declined};
  }
  if (!good) {
    run.note_refused();
    co_return RunEnd{RunEnd::How::refused, kNotTheBlocks};
  }
  if (fit == Fit::whole) begin_with_the_first(run, rest);
  BlockWriter writer(access, {job.run, job.key, job.patience}, answer);
  const auto written = co_await writer.write(job.request->get().policy().settings.timeouts.body);
  answer.fetch().finish();
  co_return RunEnd::after(written);
}

bool is_worth_another(const BlockRun::Rest& before, const BlockRun::Rest& rest) {
  const auto fetched = std::uint64_t{rest.blocks.first - before.blocks.first} * cache::kBlockBytes;
  return !rest.through && fetched + rest.reached >= before.reached + kWorthAnother;
}

bool is_cut(const RunEnd& end) {
  return end.failed() && end.why.where == Failure::Where::upstream &&
         (end.why.what == Failure::What::cut || end.why.what == Failure::What::timed_out);
}

}  // namespace

BlockRun::Rest whole_blocks_left(BlockRun& run) {
  auto rest = run.rest();
  rest.reached = 0;
  return rest;
}

Attempt rest_at_origin(FetchAccess& access, const RunJob& job, const BlockRun::Rest& asked) {
  return ask_for(access, job, asked);
}

bool has_rest(Attempt& answer, const cache::Entry& object, const BlockRun::Rest& asked) {
  const auto fit = fit_of_rest(answer, object, asked);
  return fit == Fit::range || fit == Fit::whole;
}

Task<RunEnd> fetch_from_origin(FetchAccess& access, const RunJob& job,
                               std::optional<BegunRest> begun) {
  auto& run = *job.run;
  auto rest = begun ? begun->asked : run.rest();
  std::optional<Attempt> answer;
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

}  // namespace proxy
