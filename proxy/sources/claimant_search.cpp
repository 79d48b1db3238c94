#include "proxy/sources/claimant_search.hpp"

#include <algorithm>
#include <utility>

#include "proxy/http/cache_status.hpp"
#include "proxy/net/frames.hpp"
#include "proxy/policy/content.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/source_access.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy::sources {

using net::Task;
using peers::PeerRef;

namespace {

// A search that may not ask the origin cannot find out the origin's time.
Budget budget_for(const ClaimantSearch::For& wanted, const peers::FirstByte& origin) {
  auto budget = budget_against(origin, wanted.request.policy().settings.digest.prefer);
  if (!wanted.origin && !budget.longest) budget.longest = Budget::Time::max();
  return budget;
}

// The digest by which neighbours may have the body, with an entity tag of its own.
std::optional<mirrors::ContentName> content_of(const ClaimantSearch::For& wanted) {
  const auto name = policy::shared_content_of(wanted.request);
  const auto tag = wanted.asked.part ? wanted.asked.part->validator : std::string_view();
  return name && (tag.empty() || tag == policy::entity_tag_of(*name)) ? name : std::nullopt;
}

// Counts a claim for each of them. Sets the key that they claim.
peers::Claimants claimants_for(const ClaimantSearch::For& wanted, peers::SteadyTime now,
                               digest::Key& claimed_key) {
  if (!wanted.allowed.neighbours()) return {};
  const auto& directory = *wanted.request.policy().directory;
  auto claimants = directory.claimants(wanted.key, now, digest::mark_of(wanted.request.facts.rule));
  if (const auto content = claimants.empty() ? content_of(wanted) : std::nullopt) {
    const auto key = digest::key_of(digest::Method::get, policy::stored_under(*content));
    claimants = directory.claimants(key, now);
    if (!claimants.empty()) claimed_key = key;
  }
  // What is held in part is claimed under a mark alone, so that requests for the whole do not ask.
  if (!claimants.empty() || !wanted.asked.part) return claimants;
  return directory.claimants(wanted.key, now, digest::kOfPart);
}

Unclaimed unclaimed_for(SourceAccess& access, const ClaimantSearch::For& wanted,
                        const ChoicePlan::Given& given, peers::SteadyTime now) {
  return {.key = wanted.key,
          .directory = *wanted.request.policy().directory,
          .fetches = access.shared.site_fetches,
          .ours = access.shared.publisher.current()->epoch,
          .origin_takes = given.origin_takes,
          .budget = given.budget,
          .prefer = given.prefer,
          .held = wanted.allowed.held,
          .luck = site_luck(access, wanted.request, now),
          .is_lasting = wanted.request.facts.is_immutable_by_class()};
}

// Null if `peer` is null, or barred.
PeerRef unless_barred(PeerRef peer, const ClaimantSearch::For& wanted) {
  return peer && why_barred(*peer, wanted.request, wanted.allowed) ? nullptr : std::move(peer);
}

Candidates candidates_for(SourceAccess& access, const ClaimantSearch::For& wanted,
                          const ChoicePlan::Given& given, peers::Claimants claimants,
                          peers::SteadyTime now) {
  // A proxy that is no Hearsay can't know that we fetch a newer copy, so the owner is asked.
  const bool wants_newer = wanted.allowed.least_freshness.count() > 0;
  const auto barred = std::remove_if(claimants.begin(), claimants.end(), [&](const PeerRef& peer) {
    if (why_barred(*peer, wanted.request, wanted.allowed)) return true;
    return wants_newer && !wanted.request.policy().directory->epoch_of(peer);
  });
  claimants.erase(barred, claimants.end());
  const auto draw = [&random = access.probes.random] {
    return static_cast<std::uint32_t>(random());
  };
  if (!claimants.empty()) return {std::move(claimants), given.budget, now, draw};
  if (!wanted.allowed.of_site || !wanted.allowed.neighbours()) return Candidates(nullptr);
  auto member = member_to_ask(unclaimed_for(access, wanted, given, now), {}, now);
  return Candidates(unless_barred(std::move(member), wanted));
}

ChoicePlan::Given given_now(SourceAccess& access, const ClaimantSearch::For& wanted,
                            observe::Inquiries& inquiries, digest::Key& claimed_key) {
  const auto now = access.now();
  auto claimants = claimants_for(wanted, now, claimed_key);
  auto given = ClaimantSearch::given_for(access, wanted, std::move(claimants), now);
  const bool claimed = !given.candidates.none() && given.candidates.lead() == Lead::claim;
  if (wanted.allowed.neighbours())
    inquiries.claimed = claimed ? observe::Claimed::by_some : observe::Claimed::by_nobody;
  return given;
}

}  // namespace

ChoicePlan::Given ClaimantSearch::given_for(SourceAccess& access, const For& wanted,
                                            peers::Claimants claimants, peers::SteadyTime now) {
  const auto takes = origin_takes(access, wanted.request, now);
  ChoicePlan::Given given{.candidates = Candidates(nullptr),
                          .budget = budget_for(wanted, takes),
                          .origin_takes = takes,
                          .prefer = wanted.request.policy().settings.digest.prefer,
                          .nobody_else = wanted.nobody_else};
  given.candidates = candidates_for(access, wanted, given, std::move(claimants), now);
  if (wanted.origin) given.route = route_of(wanted.request);
  return given;
}

ClaimantSearch::ClaimantSearch(SourceAccess& access, For wanted, observe::Inquiries& inquiries)
    : access_(access),
      wanted_(std::move(wanted)),
      inquiries_(inquiries),
      claimed_(wanted_.key),
      plan_(given_now(access, wanted_, inquiries, claimed_), access.hedges),
      bell_(access.executor) {}

// A name that leads nowhere is not denied, so neighbours still answer while the name servers
// cannot. One whose answer is late may be denied. It does not matter offline while no name server
// replies to anything: nothing connects to its address, and a neighbour gives only what its own
// settings let it fetch. What is known to be denied, as an address in the URL, still is.
Task<bool> ClaimantSearch::guard_allows() const {
  const auto& request = wanted_.request;
  const auto& guard = access_.guard;
  const bool in_vain =
      request.facts.offline && access_.shared.servers.names.are_silent(access_.now());
  const auto limit =
      in_vain ? std::chrono::milliseconds(0) : request.policy().settings.timeouts.peer_connect;
  std::string host(request.target.host());
  const auto found = co_await access_.resolver.resolve(std::move(host), limit);
  if (!found) co_return in_vain || found.error() != upstream::Errc::resolver_timed_out;
  co_return std::all_of(found->begin(), found->end(), [&](const auto& address) {
    return guard.allows(address, request.target.port(), upstream::NamedBy::client);
  });
}

// Returns whether there is anything to search for.
Task<bool> ClaimantSearch::begin() {
  bool goes_on = plan_.has_choice();
  // Neighbours must not hand out what we would refuse to fetch.
  const bool must_be_allowed = wanted_.request.terms().chooses_origin &&
                               access_.guard.denies_by_address() &&
                               !plan_.given().candidates.none();
  if (must_be_allowed) goes_on = co_await guard_allows();
  if (abandoned()) co_return false;
  state_ = goes_on ? State::searching : State::over;
  if (goes_on) plan_.begin(access_.now());
  co_return goes_on;
}

Task<std::optional<Attempt>> ClaimantSearch::next() {
  bool goes_on = state_ != State::over;
  if (state_ == State::new_) goes_on = co_await begin();
  while (goes_on && !abandoned()) {
    if (const auto question = remove_one_over()) {
      const bool answered = co_await is_answer(*question);
      if (answered) co_return std::move(question->attempt);
      continue;
    }
    const auto now = plan_.has_asked() ? access_.now() : plan_.begun();
    auto action = plan_.next(now);
    if (auto* const asked = std::get_if<ChoicePlan::Ask>(&action)) {
      if (asked->alone) leave_all(now);
      ask(std::move(asked->question));
    } else if (const auto* const wait = std::get_if<ChoicePlan::Wait>(&action)) {
      co_await bell_.wait_until(wait->until);
    } else {
      goes_on = finds_more(action);
    }
  }
  settle();
  co_return abandoned() ? std::nullopt : std::exchange(origins_failure_, std::nullopt);
}

// Returns whether the plan goes on.
bool ClaimantSearch::finds_more(const ChoicePlan::Action& action) {
  if (const auto* const silent = std::get_if<ChoicePlan::AskRestOfRoute>(&action)) {
    ask_by_rest_of_route(silent->of);
    return true;
  }
  const auto* const member = std::get_if<ChoicePlan::AskNextOwner>(&action);
  if (!member) return false;
  const auto now = access_.now();
  const auto epoch = wanted_.request.policy().directory->epoch_of(member->given_up);
  if (epoch && given_up_.size() < peers::SiteQuestion::kMostGivenUp) given_up_.push_back(*epoch);
  const auto unclaimed = unclaimed_for(access_, wanted_, plan_.given(), now);
  plan_.owner_is(unless_barred(member_to_ask(unclaimed, given_up_, now), wanted_));
  return true;
}

void ClaimantSearch::ask(ChoicePlan::Question question) {
  const auto lead = plan_.given().candidates.lead();
  auto asked = wanted_.asked;
  std::string fetcher;
  if (question.peer && lead == Lead::site)
    fetcher = peers::to_text({access_.shared.publisher.current()->epoch, given_up_});
  asked.fetcher = fetcher;
  auto attempt = question.peer ? attempt_at(access_, question.peer, wanted_.request, asked, lead)
                               : wanted_.origin(question.route);
  SourceQuestion begun{.attempt = std::move(attempt), .plan = std::move(question)};
  under_way_.push_back(net::make_shared_in_frames<SourceQuestion>(std::move(begun)));
  auto& asks = *under_way_.back();
  const bool of_member = asks.plan.peer && lead == Lead::site;
  if (!asks.plan.peer) asks.on_interim = wanted_.on_interim;
  // An interim answer of a member means that it waits for its own fetch. It is not passed on: the
  // client would get two from two sources.
  if (of_member) {
    asks.on_interim = [this, &asks](const http::ResponseHead& head) {
      const bool repeats = head.fields.only_value(peers::kFetchField) == peers::kWanted;
      record_wait_of_member(asks, repeats ? Repeats::yes : Repeats::no);
      return net::Soon<void>();
    };
    if (luck_ == Luck::not_asked) luck_ = Luck::unknown;
  }
  if (wanted_.fill) wanted_.fill->awaited_member = 0;
  start(access_, under_way_.back(), {wanted_.request.policy().directory, claimed_}, bell_);
}

void ClaimantSearch::record_wait_of_member(SourceQuestion& question, Repeats repeats) {
  const auto now = access_.now();
  record_luck(SiteLuck::Question::found);
  question.next_word_by = repeats == Repeats::yes ? now + kSilence : peers::SteadyTime::max();
  const bool awaits_it = plan_.peer_waits_itself(question.plan.number, repeats, now);
  if (!wanted_.fill || !awaits_it) return;
  const auto member = wanted_.request.policy().directory->epoch_of(question.plan.peer);
  wanted_.fill->awaited_member = member.value_or(0);
}

std::shared_ptr<SourceQuestion> ClaimantSearch::remove_one_over() {
  const auto found =
      std::find_if(under_way_.begin(), under_way_.end(), [](const auto& one) { return one->over; });
  if (found == under_way_.end()) return nullptr;
  auto over = std::move(*found);
  under_way_.erase(found);
  return over;
}

void ClaimantSearch::ask_by_rest_of_route(ChoicePlan::Number of) {
  const auto silent = std::find_if(under_way_.begin(), under_way_.end(),
                                   [&](const auto& one) { return one->plan.number == of; });
  const auto& server = (*silent)->attempt.fetch().server();
  if (!server.parent()) return;
  if (auto question = plan_.route_goes_on(server.rest_of_route(), access_.now()))
    ask(std::move(*question));
}

// Judges what a question has brought. Returns whether it answers the request.
Task<bool> ClaimantSearch::is_answer(SourceQuestion& question) {
  const auto& attempt = question.attempt;
  if (!attempt.peer()) co_return is_origins_answer(question);
  const auto finding = attempt.outcome() ? finding_in(attempt.head(), wanted_.asked)
                                         : finding_in(attempt.outcome().error());
  const bool holds = finding.worth == Worth::holds;
  if (holds && attempt.lead() == Lead::site) record_luck(SiteLuck::Question::found);
  if (holds) plan_.peer_has(question.plan.number);
  if (!holds) co_await record_no(question, finding);
  co_return holds;
}

// Keeps the origin's failure while another source may still answer.
bool ClaimantSearch::is_origins_answer(SourceQuestion& question) {
  auto& attempt = question.attempt;
  const bool answered = attempt.outcome().has_value();
  const auto status = answered ? attempt.head().status : 0U;
  const bool failed = !answered || status >= 500;
  using Failed = ChoicePlan::Failed;
  const auto how = !answered || status >= 502 ? Failed::on_the_way : Failed::itself;
  if (failed && plan_.origin_has_failed(question.plan.number, how, access_.now())) {
    origins_failure_ = std::move(attempt);
    return false;
  }
  settle();
  return true;
}

Task<void> ClaimantSearch::record_no(SourceQuestion& question, const Finding& finding) {
  auto& attempt = question.attempt;
  record(attempt, finding);
  if (attempt.lead() == Lead::site) {
    record_word_of_member(question);
  } else if (is_denial(finding)) {
    wanted_.request.policy().directory->record_denial(attempt.peer(), claimed_, attempt.begun());
  }
  using No = ChoicePlan::No;
  const auto no = attempt.outcome() ? No::said : No::failed;
  plan_.peer_has_not(question.plan.number, no, access_.now());
  // The sibling will soon be asked for another response, so its connection is worth keeping.
  const bool is_a_no = finding.worth == Worth::false_hit || finding.worth == Worth::other_range;
  if (is_a_no && !abandoned()) co_await drain_body(access_, attempt.fetch());
}

// All questions of a search count as one.
void ClaimantSearch::record_luck(SiteLuck::Question found) {
  if (luck_ != Luck::unknown) return;
  luck_ = Luck::known;
  record_site_luck(access_, wanted_.request, found);
}

// Asks whom the key's owner has named.
void ClaimantSearch::record_word_of_member(const SourceQuestion& question) {
  const auto& answer = question.attempt;
  if (!answer.outcome()) return;
  const auto fetcher = fetcher_named_in(answer.head());
  if (!fetcher) return;
  record_luck(SiteLuck::Question::found);
  const auto now = access_.now();
  const auto unclaimed = unclaimed_for(access_, wanted_, plan_.given(), now);
  auto peer = fetcher_to_ask(unclaimed, *fetcher, given_up_, now);
  plan_.fetcher_named(question.plan.number, unless_barred(std::move(peer), wanted_));
}

void ClaimantSearch::record(const Attempt& attempt, const Finding& finding, std::uint64_t bytes) {
  const auto& policy = wanted_.request.policy();
  const auto judged = in_time(finding, attempt.waited(), policy.settings.timeouts.peer_first_byte);
  record_worth(*policy.directory, attempt, judged, access_.now(), bytes);
  if (judged.worth == Worth::unresolved)
    attempt.peer()->accuracy.probation().unresolved(access_.now());
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
  record(answer, {Worth::other_range});
  plan_.put_off(answer.peer());
}

void ClaimantSearch::settle() {
  const auto now = under_way_.empty() ? plan_.begun() : access_.now();
  leave_all(now);
  plan_.settle(now);
  if (wanted_.fill) wanted_.fill->awaited_member = 0;
  if (!abandoned()) record_luck(SiteLuck::Question::in_vain);
}

// What the questions have cost counts where they took longer than expected.
void ClaimantSearch::leave_all(peers::SteadyTime now) {
  for (const auto& question : under_way_) {
    auto& attempt = question->attempt;
    auto& server = attempt.fetch().server();
    // Waiting for the name servers tells nothing about the source.
    const bool awaits_name = server.under_way().awaited() == upstream::Awaited::name;
    if (attempt.peer() && awaits_name && now >= question->plan.expected_by)
      attempt.peer()->accuracy.probation().unresolved(now);
    const auto ours = plan_.our_delay();
    const bool is_heard = attempt.waits_itself() && now - ours < question->next_word_by;
    const bool is_excused = is_heard || awaits_name;
    const auto silence = question->over ? Silence::none
                         : is_excused   ? Silence::excused
                                        : Silence::unexcused;
    const auto left = how_left(question->plan, silence, now - ours);
    // Another source has answered while a parent was silent.
    if (left == Left::late_origin && !abandoned()) server.record_silence();
    const auto waited = std::chrono::duration_cast<Budget::Time>(now - question->plan.asked);
    const auto result = left == Left::late_peer ? word(Worth::outrun) : "not-awaited";
    inquiries_.add({attempt.inquiry().source, result, {}, waited});
    if (abandoned() || left != Left::late_peer) continue;
    const auto& peer = *attempt.peer();
    question->noted = true;
    // Its late word shows that it works: see record_late_word().
    if (attempt.lead() == Lead::site) question->plan.seen_out = true;
    peer.accuracy.record({peers::ClaimOutcome::outrun, waited, 0}, now);
    http::add_detail(inquiries_.detail, words_for({Worth::outrun}, peer.name));
  }
  leave_quietly(abandoned() ? Then::ends : Then::may_go_on);
}

void ClaimantSearch::leave_quietly(Then then) {
  for (const auto& question : under_way_) leave(*question, then);
  under_way_.clear();
}

// A neighbour that fetches the body itself is as slow as the origin.
std::chrono::milliseconds ClaimantSearch::body_idle(const Attempt& answer) const {
  const auto& timeouts = wanted_.request.policy().settings.timeouts;
  if (!answer.peer()) return timeouts.body;
  const auto& given = plan_.given();
  const bool fetches = answer.waits_itself();
  const auto patience = fetches ? patience_in_fetched_body(given.origin_takes)
                                : patience_in_body(answer.peer()->accuracy.answers(), given.budget);
  return std::min(std::chrono::ceil<std::chrono::milliseconds>(patience),
                  fetches ? timeouts.body : timeouts.peer_first_byte);
}

void ClaimantSearch::abandon() {
  state_ = State::abandoned;
  bell_.notify();
}

}  // namespace proxy::sources
