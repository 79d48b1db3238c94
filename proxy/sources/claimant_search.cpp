#include "proxy/sources/claimant_search.hpp"

#include <algorithm>
#include <utility>

#include "proxy/http/cache_status.hpp"
#include "proxy/sources/drain.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/whom_to_ask.hpp"
#include "proxy/upstream/error.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

using net::Task;
using peers::PeerRef;

namespace {

// So many claimants come before the origin, if there are as many, even if the first uses up all of
// the budget's patience: one silent neighbour is no reason to ask the origin for what another has.
constexpr std::size_t kAlwaysAsked = 2;
constexpr Budget::Time kLeastTurn{10'000};  // for each of them

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

Candidates candidates_for(Worker& worker, const ClaimantSearch::For& wanted,
                          const peers::FirstByte& origin, const Budget& budget,
                          Inquiries& inquiries) {
  if (!wanted.claimants) return Candidates(nullptr);
  const auto now = Attempt::Steady::now();
  auto claimants = claimants_for(wanted, now);
  inquiries.claimed = claimants.empty() ? Claimed::by_nobody : Claimed::by_some;
  if (!claimants.empty() || !wanted.of_site) {
    return {std::move(claimants), budget, now,
            [&worker] { return static_cast<std::uint32_t>(worker.probes.random()); }};
  }
  auto neighbour = neighbour_of_site(worker, wanted.key, wanted.request);
  // The cheap question first: the last one takes a lock.
  const bool is_asked = neighbour && pays(*neighbour, wanted.request, origin, wanted.held) &&
                        !worker.process.fills.recently_unshared(wanted.key, now);
  return Candidates(is_asked ? std::move(neighbour) : nullptr);
}

}  // namespace

ClaimantSearch::ClaimantSearch(Worker& worker, For wanted, Inquiries& inquiries)
    : worker_(worker),
      wanted_(std::move(wanted)),
      inquiries_(inquiries),
      origin_(origin_turn(worker, wanted_)),
      budget_(budget_for(wanted_, origin_.takes)),
      candidates_(candidates_for(worker, wanted_, origin_.takes, budget_, inquiries_)),
      race_(worker, {wanted_.request.policy().directory, wanted_.key}) {}

ClaimantSearch::OriginTurn ClaimantSearch::origin_turn(const Worker& worker, const For& wanted) {
  auto route = wanted.origin ? route_of(wanted.request) : upstream::Route();
  const bool by_route = route.has_choice();
  return {std::move(route), origin_takes(worker, wanted.request), by_route};
}

// Neighbours must not hand out what we would refuse to fetch.
bool ClaimantSearch::must_be_allowed() const {
  return wanted_.request.arrival() == Arrival::forward &&
         worker_.outgoing.guard.denies_by_address();
}

// A name that leads nowhere is not denied, so neighbours still answer while the name servers
// cannot.
Task<bool> ClaimantSearch::guard_allows() const {
  const auto& request = wanted_.request;
  const auto& guard = worker_.outgoing.guard;
  const auto limit = request.policy().settings.timeouts.peer_connect;
  std::string host(request.target.host());
  const auto found = co_await worker_.outgoing.resolver.resolve(std::move(host), limit);
  if (!found) co_return found.error() != upstream::Errc::resolver_timed_out;
  co_return std::all_of(found->begin(), found->end(), [&](const auto& address) {
    return guard.allows(address, request.target.port(), upstream::Trust::client);
  });
}

void ClaimantSearch::begin(bool allowed) {
  begun_ = Steady::now();
  if (!allowed && searching()) state_ = State::over;
  if (!searching()) return;
  worker_.hedges.earn();
  if (wanted_.nobody_else) candidates_.call_reserve();
  begin_trial();
}

Task<std::optional<Attempt>> ClaimantSearch::next() {
  if (!begun_) {
    bool allowed = !candidates_.none() || origin_.by_route;
    if (!candidates_.none() && must_be_allowed()) allowed = co_await guard_allows();
    begin(allowed);
  }
  while (searching()) {
    const auto question = race_.take_one_over();
    if (!question) {
      const bool begins = next_source_at_ == Steady::time_point::min();
      const auto now = begins ? *begun_ : Steady::now();
      if (now >= next_source_at_ && !ask_next_source(now)) break;
      if (race_.under_way().empty() && next_source_at_ == Steady::time_point::max()) break;
      co_await race_.wait(next_source_at_);
      continue;
    }
    auto& attempt = question->attempt;
    const auto& heard = attempt.outcome();
    if (!attempt.peer()) {
      const bool failed = !heard || attempt.head().status >= 500;
      if (failed && keep_failure(attempt)) continue;
      settle();
      co_return std::move(attempt);
    }
    const auto finding = heard ? heard_in(attempt.head(), wanted_.asked) : heard_in(heard.error());
    if (finding.worth == Worth::holds) {
      next_source_at_ = *begun_;  // at once, if the caller has no use for it
      co_return std::move(attempt);
    }
    co_await note_no(*question, finding);
  }
  settle();
  co_return abandoned() ? std::nullopt : std::exchange(origin_.failure, std::nullopt);
}

// Whether another source may still give a better answer than the origin's failure or 5xx. Another
// route to the origin may, if this one failed.
bool ClaimantSearch::may_be_answered_otherwise(const Attempt& origin) const {
  if (candidates_.left() || race_.asks_a_neighbour()) return true;
  const bool no_way = !origin.outcome() || origin.head().status >= 502;
  return no_way && !race_.under_way().empty();
}

// Keeps the origin's failure while another source may still answer. Returns whether one may.
bool ClaimantSearch::keep_failure(Attempt& origin) {
  candidates_.call_reserve();
  if (!may_be_answered_otherwise(origin)) return false;
  next_source_at_ = Steady::now();
  origin_.failure = std::move(origin);
  return true;
}

Task<void> ClaimantSearch::note_no(SourceRace::Question& question, const Finding& finding) {
  auto& attempt = question.attempt;
  const auto& directory = wanted_.request.policy().directory;
  note(attempt, finding);
  if (attempt.lead() == Lead::site) {
    follow_to_fetcher(attempt);
  } else if (is_denial(finding)) {
    directory->note_denial(attempt.peer(), wanted_.key, attempt.begun());
  }
  // While a trial is under way, the next source has its own turn.
  if (!question.on_trial || race_.under_way().empty()) next_source_at_ = Steady::now();
  // The sibling will soon be asked for another response, so its connection is worth keeping.
  const bool is_a_no = finding.worth == Worth::false_hit || finding.worth == Worth::other_range;
  if (is_a_no && searching()) co_await drain_body(worker_, attempt.fetch());
}

// Asks whom the key's owner has named, once.
void ClaimantSearch::follow_to_fetcher(const Attempt& answer) {
  if (!answer.outcome() || candidates_.asked() > 1) return;
  const auto fetcher = fetcher_named_in(answer.head());
  if (!fetcher) return;
  const auto& directory = wanted_.request.policy().directory;
  auto peer = directory->member(*fetcher, Steady::now());
  if (peer && pays(*peer, wanted_.request, origin_.takes, wanted_.held))
    candidates_.add(std::move(peer));
}

// One request at a time tries a neighbour that failed. The next source is asked at once.
void ClaimantSearch::begin_trial() {
  if (!wanted_.origin) return;
  auto peer = candidates_.begin_trial();
  if (!peer) return;
  if (!may_hedge()) {
    peer->accuracy.probation().end_trial();
    return candidates_.put_in_reserve(std::move(peer));
  }
  SourceRace::Question question{attempt_at(worker_, peer, wanted_.request, wanted_.asked)};
  question.on_trial = question.seen_out = true;
  race_.start(std::move(question));
}

// Returns whether the search goes on.
bool ClaimantSearch::ask_next_source(Steady::time_point now) {
  const bool in_time = candidates_.asked() < kAlwaysAsked || now - *begun_ < budget_.patience;
  const bool may_ask = origin_.failure || (in_time && !asks_origin_first());
  const bool claimant_left = may_ask && candidates_.left();
  if (origin_.works()) {
    if (now >= origin_.by_rest_at) ask_by_rest_of_route(now);
    next_source_at_ = origin_.by_rest_at;
    return !race_.under_way().empty();
  }
  if (origin_.failure && !claimant_left) {
    next_source_at_ = Steady::time_point::max();
    return !race_.under_way().empty();
  }
  if (!claimant_left && !wanted_.origin) return false;
  if (race_.would_hedge() && !may_hedge()) settle();
  if (claimant_left) {
    ask_claimant(candidates_.next(), now);
    return true;
  }
  const bool is_alone = race_.under_way().empty() && !candidates_.left() && !candidates_.reserve();
  if (is_alone && !origin_.by_route) return false;
  ask_origin(now);
  return true;
}

bool ClaimantSearch::asks_origin_first() const {
  return race_.would_hedge() && candidates_.left() &&
         origin_comes_first(candidates_.first_left()->accuracy.first_byte(), budget_);
}

void ClaimantSearch::ask_claimant(const PeerRef& peer, Steady::time_point now) {
  const auto takes = peer->accuracy.first_byte();
  const auto latest = *begun_ + budget_.patience;
  const auto patience = patience_with(takes, budget_);
  next_source_at_ = patience == Budget::kEndless ? Steady::time_point::max()
                                                 : std::max(now + std::min(patience, kLeastTurn),
                                                            std::min(now + patience, latest));
  const auto lead = candidates_.lead();
  SourceRace::Question question{attempt_at(worker_, peer, wanted_.request, wanted_.asked, lead),
                                now};
  question.expected_by = now + std::max(patience, takes.p95());
  question.seen_out = !takes.measured();
  question.on_interim = [this](const auto&) {
    wait_for_fetch();
    return net::Soon<void>();
  };
  race_.start(std::move(question));
}

// A neighbour of the site is fetching the response.
void ClaimantSearch::wait_for_fetch() {
  if (origin_.asked) return;
  next_source_at_ = std::max(next_source_at_, *begun_ + patience_with_fetch(origin_.takes));
}

void ClaimantSearch::ask_origin(Steady::time_point now) {
  SourceRace::Question question{wanted_.origin(origin_.route), now};
  question.seen_out = !origin_.takes.measured();
  question.on_interim = wanted_.on_interim;
  origin_.by_rest_at = Steady::time_point::max();
  if (origin_.route.has_choice()) {
    const auto prefer = wanted_.request.policy().settings.digest.prefer;
    const auto patience = patience_with_parent(origin_.takes, prefer);
    question.expected_by = question.asked + patience;
    const bool is_trial = origin_.route.begins_in_doubt(question.asked);
    origin_.by_rest_at = is_trial ? question.asked : question.expected_by;
  }
  next_source_at_ = origin_.by_rest_at;
  origin_.asked = true;
  race_.start(std::move(question));
}

// While a parent is silent, the servers of the route that have not been asked are the next source.
// If there are too many second questions, the parent is waited for: Fetch bounds that.
void ClaimantSearch::ask_by_rest_of_route(Steady::time_point now) {
  origin_.by_rest_at = Steady::time_point::max();
  const auto& all = race_.under_way();
  const auto last =
      std::find_if(all.rbegin(), all.rend(), [](const auto& one) { return !one->attempt.peer(); });
  if (last == all.rend() || !(*last)->attempt.fetch().server().parent()) return;
  auto rest = (*last)->attempt.fetch().server().rest_of_route();
  if (rest.leads_nowhere() || !may_hedge()) return;
  origin_.route = std::move(rest);
  ask_origin(now);
}

// Whether a second question may be asked for the same answer; if so, it counts.
bool ClaimantSearch::may_hedge() {
  if (!worker_.hedges.take()) return false;
  worker_.counters.hedges.add();
  return true;
}

void ClaimantSearch::note(const Attempt& attempt, const Finding& finding, std::uint64_t bytes) {
  const auto& policy = wanted_.request.policy();
  const auto judged = in_time(finding, attempt.waited(), policy.settings.timeouts.peer_first_byte);
  note_worth(*policy.directory, attempt, judged, bytes);
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
  candidates_.put_in_reserve(answer.peer());
}

// What the questions have cost counts where they took longer than expected.
void ClaimantSearch::settle() {
  const auto now = race_.under_way().empty() ? *begun_ : Steady::now();
  for (const auto& question : race_.under_way()) {
    const auto& peer = question->attempt.peer();
    const bool is_late = !question->over && now >= question->expected_by;
    if (!peer && is_late && !abandoned()) question->attempt.note_silence();
    const bool was_slow = peer && is_late && !question->attempt.waits_itself();
    const auto waited = std::chrono::duration_cast<Budget::Time>(now - question->asked);
    const auto result = was_slow ? word(Worth::outrun) : "not-awaited";
    inquiries_.add({question->attempt.inquiry().source, result, {}, waited});
    if (abandoned() || !was_slow) continue;
    question->noted = true;
    peer->accuracy.note(peers::ClaimOutcome::outrun, waited, 0, now);
    http::add_detail(inquiries_.detail, words_for({Worth::outrun}, peer->name));
  }
  race_.leave(abandoned());
  origin_.asked = origin_.failure.has_value();
  origin_.by_rest_at = Steady::time_point::max();
  next_source_at_ = now;
}

std::chrono::milliseconds ClaimantSearch::body_idle(const Attempt& answer, bool resumable) const {
  const auto& timeouts = wanted_.request.policy().settings.timeouts;
  if (!answer.peer() || !resumable) return timeouts.body;
  const bool fetches = answer.waits_itself();
  const auto patience = fetches ? patience_in_fetched_body(origin_.takes)
                                : patience_in_body(answer.peer()->accuracy.first_byte(), budget_);
  return std::min(std::chrono::ceil<std::chrono::milliseconds>(patience),
                  fetches ? timeouts.body : timeouts.peer_first_byte);
}

void ClaimantSearch::abandon() {
  state_ = State::abandoned;
  race_.wake();
}

}  // namespace proxy
