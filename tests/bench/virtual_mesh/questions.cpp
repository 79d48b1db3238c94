// What the members of a mesh say to each other's questions, and make of the answers.
#include <algorithm>

#include "tests/bench/virtual_mesh/mesh.hpp"

namespace bench {

using sources::Lead;
using sources::Repeats;
using Found = sources::SiteLuck::Question;

// `asked`: the asker's fetch and its question.
void Mesh::send(const Event& asked, Word word) {
  auto answer = asked;
  answer.does = Event::Does::peer_answers;
  answer.at = nullptr;
  answer.word = word;
  answer.is_handled = false;
  const std::chrono::duration<double, std::milli> half(shape_.neighbour / 2);
  add(clock_.now + std::chrono::duration_cast<Time::duration>(half), std::move(answer));
}

void Mesh::hear_question(const Event& event) {
  const auto* const asker = find(event.fetch);
  if (!asker) return send(event, {});  // it has left
  auto& member = *event.at;
  const auto entry = held(member, event.url);
  if (entry && entry->ttl(wall(clock_.now)) >= asker->least_freshness)
    return send(event,
                {.says = Word::Says::holds, .held = {entry->date(), entry->age(wall(clock_.now))}});
  const auto under_way = member.fetches.find(event.url);
  const bool is_claim = asker->plan.given().candidates.lead() == Lead::claim;
  if (is_claim || under_way == member.fetches.end()) return send(event, refusal(member, *asker));
  auto& fetch = fetches_.at(under_way->second);
  if (fetch.awaited == asker->member.publisher.epoch()) return send(event, refusal(member, *asker));
  member.luck = member.luck.with(Found::found);
  fetch.neighbours.push_back({event.fetch, event.question});
  heartbeat(event);
}

// While the asker waits for our fetch. Of two that wait for each other the one of the lesser epoch
// gives way, as in answer/answer.cpp.
void Mesh::heartbeat(const Event& event) {
  const auto* const asker = find(event.fetch);
  auto& member = *event.at;
  const auto under_way = member.fetches.find(event.url);
  if (!asker || under_way == member.fetches.end()) return;
  auto& fetch = fetches_.at(under_way->second);
  const auto epoch = asker->member.publisher.epoch();
  if (fetch.awaited == epoch && member.publisher.epoch() < epoch) {
    std::erase_if(fetch.neighbours, [&](const auto& one) { return one.fetch == event.fetch; });
    return send(event, refusal(member, *asker));
  }
  send(event, {.says = Word::Says::waits});
  auto next = event;
  next.does = Event::Does::heartbeat;
  next.is_handled = false;
  add(clock_.now + peers::kHeartbeat, std::move(next));
}

// A member remembers who asks for what it neither has nor fetches, and names who asked before.
Mesh::Word Mesh::refusal(Member& member, const Fetch& asker) const {
  if (asker.plan.given().candidates.lead() == Lead::claim) return {};
  const auto epoch = asker.member.publisher.epoch();
  const auto& key = resources_[asker.url].key;
  const auto fetcher = member.site_fetches.enter(key, epoch, clock_.now, asker.given_up);
  return {.fetcher = fetcher == epoch ? 0 : fetcher};
}

void Mesh::hear_peer(const Event& event) {
  auto& probation = event.question.peer->accuracy.probation();
  if (event.question.on_trial) probation.end_trial();
  auto* const fetch = find(event.fetch);
  if (!fetch) return probation.answered();  // another source was first
  const auto asked = std::find_if(fetch->asked.begin(), fetch->asked.end(), [&](const Asked& one) {
    return one.question.number == event.question.number;
  });
  if (asked == fetch->asked.end()) return;
  if (event.word.says == Word::Says::waits) {
    hear_wait(*fetch, *asked);
    return go_on(event.fetch);
  }
  fetch->asked.erase(asked);
  if (event.word.says == Word::Says::holds)
    return take_from(event.fetch, event.question, event.word);
  hear_no(*fetch, event.question, event.word);
  go_on(event.fetch);
}

void Mesh::hear_wait(Fetch& fetch, Asked& asked) {
  if (!std::exchange(asked.waits_itself, true))
    fetch.member.luck = fetch.member.luck.with(Found::found);
  asked.next_word_by = clock_.now + sources::kSilence;
  const auto number = asked.question.number;
  if (fetch.plan.peer_waits_itself(number, Repeats::yes, clock_.now))
    fetch.awaited = fetch.member.directory.epoch_of(asked.question.peer).value_or(0);
}

void Mesh::hear_no(Fetch& fetch, const sources::ChoicePlan::Question& question, const Word& word) {
  auto& directory = fetch.member.directory;
  const auto took = std::chrono::duration_cast<Micros>(clock_.now - question.asked);
  if (fetch.plan.given().candidates.lead() == Lead::claim) {
    ++counts_.false_claims;
    directory.record(question.peer,
                     {peers::ClaimOutcome::false_hit, took, 0, peers::FalseHit::gone}, clock_.now);
    directory.record_denial(question.peer, resources_[fetch.url].key, question.asked);
  } else {
    directory.record(question.peer, {peers::ClaimOutcome::unclaimed_no, took, 0}, clock_.now);
    fetch.member.luck = fetch.member.luck.with(word.fetcher != 0 ? Found::found : Found::in_vain);
  }
  if (word.fetcher != 0) {
    const auto asked = unclaimed(fetch.member, fetch.url);
    auto fetcher = sources::fetcher_to_ask(asked, word.fetcher, fetch.given_up, clock_.now);
    fetch.plan.fetcher_named(question.number, std::move(fetcher));
  }
  fetch.plan.peer_has_not(question.number, sources::ChoicePlan::No::said, clock_.now);
}

void Mesh::take_from(std::size_t number, const sources::ChoicePlan::Question& question,
                     const Word& word) {
  auto& fetch = fetches_.at(number);
  auto& member = fetch.member;
  const auto response = response_to(fetch, word.held);
  fetch.plan.peer_has(question.number);
  if (!response->fresh(wall(clock_.now))) {
    hear_no(fetch, question, {});
    return go_on(number);
  }
  const auto took = std::chrono::duration_cast<Micros>(clock_.now - question.asked);
  const bool claimed = fetch.plan.given().candidates.lead() == Lead::claim;
  member.directory.record(
      question.peer,
      {claimed ? peers::ClaimOutcome::true_hit : peers::ClaimOutcome::unclaimed_hit, took,
       shape_.body},
      clock_.now);
  ++counts_.neighbours;
  const tiers::Offer offer{.takes = question.peer->accuracy.first_byte(),
                           .took = {},
                           .renews = !!stale(member, fetch.url),
                           .length = shape_.body};
  const auto& key = resources_[fetch.url].key;
  const bool is_left = member.placement.leaves_there(config::Duplicates::second, key, offer);
  end(number, response, !is_left);
}

// What the questions have cost counts where they took longer than expected: as leave_all() in
// sources/claimant_search.cpp.
void Mesh::leave_questions(Fetch& fetch) {
  const auto now = clock_.now - fetch.plan.our_delay();
  for (const auto& [question, next_word_by, waits_itself, asking] : fetch.asked) {
    const bool is_heard = waits_itself && now < next_word_by;
    const auto silence = is_heard ? sources::Silence::excused : sources::Silence::unexcused;
    if (sources::how_left(question, silence, now) != sources::Left::late_peer) continue;
    const auto waited = std::chrono::duration_cast<Micros>(clock_.now - question.asked);
    question.peer->accuracy.record({peers::ClaimOutcome::outrun, waited, 0}, clock_.now);
  }
}

}  // namespace bench
