#include "proxy/sources/claimant_search.hpp"

#include <algorithm>
#include <utility>

#include "proxy/http/cache_status.hpp"
#include "proxy/sources/drain.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/source_access.hpp"
#include "proxy/sources/whom_to_ask.hpp"
#include "proxy/upstream/error.hpp"

namespace proxy {

using net::Task;
using peers::PeerRef;

namespace {

// A search that may not ask the origin cannot find out the origin's time.
Budget budget_for(const ClaimantSearch::For& wanted, const peers::FirstByte& origin) {
  auto budget = budget_against(origin, wanted.request.policy().settings.digest.prefer);
  if (!wanted.origin && !budget.longest) budget.longest = Budget::Time::max();
  return budget;
}

peers::Claimants claimants_for(const ClaimantSearch::For& wanted, peers::SteadyTime now) {
  const auto& policy = wanted.request.policy();
  const auto rule = digest::mark_of(wanted.request.facts.rule);
  auto claimants = policy.directory->claimants(wanted.key, now, rule);
  if (claimants.empty() && wanted.asked.part) {
    claimants = policy.directory->claimants(wanted.key, now, digest::kOfPart);
  }
  const auto others = std::remove_if(claimants.begin(), claimants.end(), [&](const PeerRef& peer) {
    return why_barred(*peer, wanted.request, wanted.guests).has_value();
  });
  claimants.erase(others, claimants.end());
  return claimants;
}

Candidates candidates_for(SourceAccess& access, const ClaimantSearch::For& wanted,
                          const peers::FirstByte& origin, const Budget& budget,
                          Inquiries& inquiries) {
  if (!wanted.claimants) return Candidates(nullptr);
  const auto now = Attempt::Steady::now();
  auto claimants = claimants_for(wanted, now);
  inquiries.claimed = claimants.empty() ? Claimed::by_nobody : Claimed::by_some;
  if (!claimants.empty() || !wanted.of_site) {
    return {std::move(claimants), budget, now,
            [&access] { return static_cast<std::uint32_t>(access.probes.random()); }};
  }
  auto neighbour = neighbour_of_site(access, wanted.key, wanted.request);
  // The cheap question first: the last one takes a lock.
  const bool is_asked = neighbour && pays(*neighbour, wanted.request, origin, wanted.held) &&
                        !access.cache.cache.fills.recently_unshared(wanted.key, now);
  return Candidates(is_asked ? std::move(neighbour) : nullptr);
}

ChoicePlan::Given given_for(SourceAccess& access, const ClaimantSearch::For& wanted,
                            Inquiries& inquiries) {
  const auto origin = origin_takes(access, wanted.request);
  const auto budget = budget_for(wanted, origin);
  return {.candidates = candidates_for(access, wanted, origin, budget, inquiries),
          .budget = budget,
          .origin_takes = origin,
          .route = wanted.origin ? std::optional(route_of(wanted.request)) : std::nullopt,
          .prefer = wanted.request.policy().settings.digest.prefer,
          .nobody_else = wanted.nobody_else};
}

}  // namespace

ClaimantSearch::ClaimantSearch(SourceAccess& access, For wanted, Inquiries& inquiries)
    : access_(access),
      wanted_(std::move(wanted)),
      inquiries_(inquiries),
      plan_(given_for(access, wanted_, inquiries), access.hedges),
      race_(access, {wanted_.request.policy().directory, wanted_.key}) {}

// Neighbours must not hand out what we would refuse to fetch.
bool ClaimantSearch::must_be_allowed() const {
  return wanted_.request.arrival() == Arrival::forward && access_.guard.denies_by_address();
}

// A name that leads nowhere is not denied, so neighbours still answer while the name servers
// cannot. One whose answer is late may be denied. It does not matter offline while no name server
// replies to anything: nothing connects to its address, and a neighbour gives only what its own
// settings let it fetch. What is known to be denied, as an address in the URL, still is.
Task<bool> ClaimantSearch::guard_allows() const {
  const auto& request = wanted_.request;
  const auto& guard = access_.guard;
  const bool in_vain =
      request.facts.offline && access_.shared.name_health.are_silent(Steady::now());
  const auto limit =
      in_vain ? std::chrono::milliseconds(0) : request.policy().settings.timeouts.peer_connect;
  std::string host(request.target.host());
  const auto found = co_await access_.resolver.resolve(std::move(host), limit);
  if (!found) co_return in_vain || found.error() != upstream::Errc::resolver_timed_out;
  co_return std::all_of(found->begin(), found->end(), [&](const auto& address) {
    return guard.allows(address, request.target.port(), upstream::Trust::client);
  });
}

// Returns whether there is anything to search for.
Task<bool> ClaimantSearch::begin() {
  bool goes_on = plan_.has_choice();
  if (plan_.has_candidates() && must_be_allowed()) goes_on = co_await guard_allows();
  if (abandoned()) co_return false;
  state_ = goes_on ? State::searching : State::over;
  if (goes_on) plan_.begin(Steady::now());
  co_return goes_on;
}

Task<std::optional<Attempt>> ClaimantSearch::next() {
  bool goes_on = state_ != State::over;
  if (state_ == State::new_) goes_on = co_await begin();
  while (goes_on && !abandoned()) {
    if (const auto question = race_.take_one_over()) {
      const bool answered = co_await is_answer(*question);
      if (answered) co_return std::move(question->attempt);
      continue;
    }
    const auto now = plan_.has_asked() ? Steady::now() : plan_.begun();
    auto action = plan_.next(now);
    if (auto* const asked = std::get_if<ChoicePlan::Ask>(&action)) {
      if (asked->alone) leave_all(now);
      ask(std::move(asked->question));
    } else if (const auto* const silent = std::get_if<ChoicePlan::AskRestOfRoute>(&action)) {
      ask_by_rest_of_route(silent->of);
    } else if (const auto* const wait = std::get_if<ChoicePlan::Wait>(&action)) {
      co_await race_.wait(wait->until);
    } else {
      goes_on = false;
    }
  }
  settle();
  co_return abandoned() ? std::nullopt : std::exchange(origins_failure_, std::nullopt);
}

void ClaimantSearch::ask(ChoicePlan::Question question) {
  auto attempt = question.peer ? attempt_at(access_, question.peer, wanted_.request, wanted_.asked,
                                            plan_.lead())
                               : wanted_.origin(question.route);
  auto on_interim = wanted_.on_interim;
  if (question.peer && !question.on_trial) {
    on_interim = [this](const auto&) {
      plan_.peer_waits_itself();
      return net::Soon<void>();
    };
  } else if (question.on_trial) {
    on_interim = nullptr;
  }
  race_.start({.attempt = std::move(attempt),
               .plan = std::move(question),
               .on_interim = std::move(on_interim)});
}

void ClaimantSearch::ask_by_rest_of_route(ChoicePlan::Number of) {
  const auto& server = race_.find(of)->attempt.fetch().server();
  if (!server.parent()) return;
  if (auto question = plan_.route_goes_on(server.rest_of_route(), Steady::now()))
    ask(std::move(*question));
}

// Judges what a question has brought. Returns whether it answers the request.
Task<bool> ClaimantSearch::is_answer(SourceRace::Question& question) {
  const auto& attempt = question.attempt;
  if (!attempt.peer()) co_return is_origins_answer(question);
  const auto& heard = attempt.outcome();
  const auto finding = heard ? heard_in(attempt.head(), wanted_.asked) : heard_in(heard.error());
  const bool holds = finding.worth == Worth::holds;
  if (holds)
    plan_.peer_has(question.plan.number);
  else
    co_await note_no(question, finding);
  co_return holds;
}

// Keeps the origin's failure while another source may still answer.
bool ClaimantSearch::is_origins_answer(SourceRace::Question& question) {
  auto& attempt = question.attempt;
  const bool answered = attempt.outcome().has_value();
  const auto status = answered ? attempt.head().status : 0U;
  const bool failed = !answered || status >= 500;
  const bool no_way = !answered || status >= 502;
  if (failed && plan_.origin_has_failed(question.plan.number, no_way, Steady::now())) {
    origins_failure_ = std::move(attempt);
    return false;
  }
  settle();
  return true;
}

Task<void> ClaimantSearch::note_no(SourceRace::Question& question, const Finding& finding) {
  auto& attempt = question.attempt;
  note(attempt, finding);
  if (attempt.lead() == Lead::site) {
    follow_to_fetcher(attempt);
  } else if (is_denial(finding)) {
    const auto& directory = wanted_.request.policy().directory;
    directory->note_denial(attempt.peer(), wanted_.key, attempt.begun());
  }
  plan_.peer_has_not(question.plan.number, Steady::now());
  // The sibling will soon be asked for another response, so its connection is worth keeping.
  const bool is_a_no = finding.worth == Worth::false_hit || finding.worth == Worth::other_range;
  if (is_a_no && !abandoned()) co_await drain_body(access_, attempt.fetch());
}

// Asks whom the key's owner has named, once.
void ClaimantSearch::follow_to_fetcher(const Attempt& answer) {
  const auto fetcher = answer.outcome() ? fetcher_named_in(answer.head()) : std::nullopt;
  if (!fetcher) return;
  const auto& directory = wanted_.request.policy().directory;
  auto peer = directory->member(*fetcher, Steady::now());
  if (peer && pays(*peer, wanted_.request, plan_.origin_takes(), wanted_.held))
    plan_.fetcher_named(std::move(peer));
}

void ClaimantSearch::note(const Attempt& attempt, const Finding& finding, std::uint64_t bytes) {
  const auto& policy = wanted_.request.policy();
  const auto judged = in_time(finding, attempt.waited(), policy.settings.timeouts.peer_first_byte);
  note_worth(*policy.directory, attempt, judged, bytes);
  if (judged.worth == Worth::unresolved)
    attempt.peer()->accuracy.probation().unresolved(Steady::now());
  const auto result = word(judged.worth);
  if (result.empty()) return;
  const auto& name = attempt.peer()->name;
  // A neighbour that has claimed nothing has kept its word.
  const bool kept_word = attempt.lead() == Lead::site && judged.worth == Worth::false_hit;
  if (kept_word) return inquiries_.add({name, "not-held", {}, attempt.waited()});
  http::add_detail(inquiries_.detail, words_for(judged, name));
  inquiries_.add({name, result, word_for_cause(judged), attempt.waited()});
}

void ClaimantSearch::put_off(const Attempt& answer) {
  note(answer, {Worth::other_range});
  plan_.put_off(answer.peer());
}

void ClaimantSearch::settle() {
  const auto now = race_.under_way().empty() ? plan_.begun() : Steady::now();
  leave_all(now);
  plan_.settle(now);
}

// What the questions have cost counts where they took longer than expected.
void ClaimantSearch::leave_all(Steady::time_point now) {
  using Left = ChoicePlan::Left;
  for (const auto& question : race_.under_way()) {
    const auto& attempt = question->attempt;
    const bool is_excused = attempt.waits_itself() || attempt.awaits_name();
    if (attempt.peer() && attempt.awaits_name() && now >= question->plan.expected_by)
      attempt.peer()->accuracy.probation().unresolved(now);
    const auto left = ChoicePlan::how_left(question->plan, question->over, is_excused, now);
    if (left == Left::late_origin && !abandoned()) question->attempt.note_silence();
    const auto waited = std::chrono::duration_cast<Budget::Time>(now - question->plan.asked);
    const auto result = left == Left::late_peer ? word(Worth::outrun) : "not-awaited";
    inquiries_.add({attempt.inquiry().source, result, {}, waited});
    if (abandoned() || left != Left::late_peer) continue;
    const auto& peer = *attempt.peer();
    question->noted = true;
    peer.accuracy.note(peers::ClaimOutcome::outrun, waited, 0, now);
    http::add_detail(inquiries_.detail, words_for({Worth::outrun}, peer.name));
  }
  race_.leave(abandoned());
}

std::chrono::milliseconds ClaimantSearch::body_idle(const Attempt& answer, bool resumable) const {
  const auto& timeouts = wanted_.request.policy().settings.timeouts;
  if (!answer.peer() || !resumable) return timeouts.body;
  const bool fetches = answer.waits_itself();
  const auto takes = fetches ? std::nullopt : std::optional(answer.peer()->accuracy.first_byte());
  return std::min(std::chrono::ceil<std::chrono::milliseconds>(plan_.patience_in(takes)),
                  fetches ? timeouts.body : timeouts.peer_first_byte);
}

void ClaimantSearch::abandon() {
  state_ = State::abandoned;
  race_.wake();
}

}  // namespace proxy
