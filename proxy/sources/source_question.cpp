#include "proxy/sources/claimant_search.hpp"

#include <spdlog/spdlog.h>

#include <optional>
#include <utility>

#include "proxy/net/frames.hpp"
#include "proxy/sources/neighbour.hpp"
#include "proxy/sources/source_access.hpp"

namespace proxy::sources {

using net::Task;

namespace {

// Records what the neighbour did with a question whose answer nobody uses. A head without a body
// shows nothing. `begun`: the body has begun to arrive.
void record_unused(const AskedAbout& about, const Attempt& attempt, bool begun,
                   peers::SteadyTime now) {
  const auto& peer = attempt.peer();
  if (!peer) return;
  const auto& heard = attempt.outcome();
  const auto status = heard ? attempt.head().status : 0U;
  const bool sends_what_was_asked = status == 206 || status == 304;
  const auto finding = sends_what_was_asked ? Finding{Worth::holds}
                       : heard              ? finding_in(attempt.head(), {})
                                            : finding_in(heard.error());
  if (finding.worth == Worth::holds && !begun) return;
  if (finding.worth == Worth::unresolved) return peer->accuracy.probation().unresolved(now);
  const auto outcome = finding.worth == Worth::holds ? std::optional(peers::ClaimOutcome::overtaken)
                                                     : outcome_of(attempt, finding);
  if (!outcome) return;
  about.directory->record(peer, {*outcome, first_byte_of(attempt, finding), 0, finding.cause}, now);
  const bool is_claim = attempt.lead() == Lead::claim;
  if (is_claim && is_denial(finding))
    about.directory->record_denial(peer, about.key, attempt.begun());
}

// Nobody tries a member of the site that was outrun, and it owns no key until it has shown that it
// works: as busy as it is, it has heard the question.
void record_late_word(const SourceQuestion& question) {
  const bool of_site = question.attempt.lead() == Lead::site;
  if (of_site && question.noted) question.attempt.peer()->accuracy.probation().answered();
}

// Reads a body that nobody uses, from a neighbour whose last answers broke off. A body that reaches
// its end, or a mebibyte, shows that the neighbour works again.
Task<void> see_out(SourceAccess& access, const AskedAbout& about, Attempt& attempt) {
  // More than what is in flight when a connection breaks, and still little for a LAN.
  constexpr std::uint64_t kEnough = 1 << 20;
  const auto limit = access.upstream.timeouts.peer_first_byte;
  const auto until = access.now() + 2 * limit;
  const net::PooledBuffer scratch(access.upstream.buffers);
  upstream::Outcome<std::size_t> read = 0;
  std::uint64_t all = 0;
  do {
    read = co_await attempt.fetch().body(scratch.all(), limit);
    if (read) all += *read;
  } while (read && *read > 0 && all < kEnough && access.now() < until);
  const bool goes_on = read && (*read == 0 || all >= kEnough);
  if (goes_on) co_return attempt.peer()->accuracy.probation().prove();
  if (read || read.error().what == upstream::Failure::What::abandoned) co_return;  // slow, or left
  about.directory->record(attempt.peer(), {peers::ClaimOutcome::broken}, access.now());
}

// `bell`: the race's, which is there until the question is left.
Task<void> see_through(SourceAccess& access, std::shared_ptr<SourceQuestion> question,
                       AskedAbout about, net::Wakeup& bell) {
  auto& attempt = question->attempt;
  const auto& peer = attempt.peer();
  std::optional<peers::Asking> asking;
  if (peer) asking.emplace(peer->accuracy, peers::Trial(question->plan.on_trial));
  bool begun = false;
  Attempt::OnInterim interim = [&question = *question](const http::ResponseHead& head) {
    if (question.left) record_late_word(question);
    const bool is_heard = !question.left && question.on_interim;
    return is_heard ? question.on_interim(head) : net::Soon<void>();
  };
  try {
    const auto answered = co_await attempt.ask(std::move(interim));
    if (answered && peer) begun = attempt.fetch().body_has_begun();
    if (answered && peer && !begun) begun = co_await attempt.body_begins();
    question->over = true;
    if (question->left && !question->noted) record_unused(about, attempt, begun, access.now());
    if (question->left && answered) record_late_word(*question);
    const bool proves = question->left && begun && attempt.head().status < 300;
    if (proves && peer->accuracy.probation().breaks_off()) co_await see_out(access, about, attempt);
  } catch (const std::exception& bug) {
    spdlog::error("a question to a source failed inside this proxy: {}", bug.what());
  }
  question->over = true;
  asking.reset();  // before its answer is judged: the next question must not see it as busy
  if (!question->left) bell.notify_within();
}

}  // namespace

void start(SourceAccess& access, std::shared_ptr<SourceQuestion> question, AskedAbout about,
           net::Wakeup& bell) {
  net::spawn(access.executor, see_through(access, std::move(question), std::move(about), bell));
}

void leave(SourceQuestion& question, Then then) {
  question.left = true;
  const bool goes_on = question.plan.seen_out && then == Then::may_go_on;
  if (!goes_on && !question.over) question.attempt.abandon();
}

}  // namespace proxy::sources
