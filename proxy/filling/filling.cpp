#include "proxy/filling/filling.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/detached.hpp>

#include "proxy/cache/partial.hpp"
#include "proxy/cache/policy.hpp"
#include "proxy/sources/discard.hpp"
#include "proxy/sources/false_hit.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/sampling.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

using net::Task;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

constexpr int kMostInterims = 32;
constexpr Failure kMalformed{Failure::Where::upstream, Failure::What::malformed, {}};

// Whether an answer that is not stored says that what was stored is the resource's state no more. A
// refusal, an error, some parts, or what is for one user says nothing of it.
bool replaces(unsigned status, cache::Storability storability) {
  const bool state = status < 400 || status == 404 || status == 410;
  return state && storability != cache::Storability::private_ &&
         storability != cache::Storability::partial;
}

Task<void> run_job(Worker& worker, FillJob job) {
  const auto fill = job.fill;
  const auto key = job.key;
  const bool refresh = job.refresh;
  Filling filling(worker, std::move(job));
  try {
    co_await filling.run();
  } catch (const std::exception& bug) {
    spdlog::error("a fetch of {} failed inside this proxy: {}", fill->url(), bug.what());
    fill->fail({Failure::Where::us, Failure::What::overload, {}});
  }
  worker.process.fills.leave(key, *fill);
  if (refresh) worker.process.fills.end_refresh(key);
}

}  // namespace

void start_filling(Worker& worker, FillJob job) {
  net::asio::co_spawn(worker.io.get_executor(), run_job(worker, std::move(job)),
                      net::asio::detached);
}

Task<void> Filling::run() {
  // The hook may still be on its way when we are done.
  job_.fill->on_abandoned([self = std::weak_ptr<Filling*>(self_)] {
    const auto alive = self.lock();
    if (!alive) return;
    auto& filling = **alive;
    if (filling.fetch_ && filling.unwanted()) filling.fetch_->abandon();
  });
  if (job_.ask_siblings) {
    const auto claimants = request().policy().directory->claimants(job_.key, steady_clock::now());
    for (const auto& peer : claimants) {
      const auto tried = co_await from_sibling(peer);
      if (tried == Tried::answered) co_return;
      if (tried == Tried::origin) break;
    }
    sample_false_miss(worker_, job_.key, request());
  }
  co_await from_origin();
}

Task<Outcome<const http::ResponseHead*>> Filling::ask(FetchPlan plan, cache::SourceKind source) {
  const bool of_sibling = source == cache::SourceKind::sibling;
  times_.request = now();
  fetch_.emplace(worker_.outgoing.upstream, std::move(plan));
  const auto sent = co_await fetch_->start();
  if (!sent) co_return sent.error();
  for (int interims = 0;; ++interims) {
    const auto head = co_await fetch_->response();
    times_.response = now();
    if (!head || !(*head)->interim()) co_return head;
    // What it has, a sibling sends at once.
    if (of_sibling || interims == kMostInterims) co_return kMalformed;
    // 100 answers an expectation that a GET does not have; others are for the client.
    if ((*head)->status != 100) job_.fill->interim(interim_text(**head, worker_.process.name));
  }
}

Task<Filling::Tried> Filling::from_sibling(const peers::PeerRef& peer) {
  const auto& timeouts = request().policy().settings.timeouts;
  auto& directory = *request().policy().directory;
  FetchPlan plan{.to = {false, peer->host, peer->port, upstream::Trust::configured},
                 .head = sibling_request(request(), worker_.process.name, part_for_sibling()),
                 .method = "GET",
                 .repeatable = true,
                 .connect = timeouts.peer_connect,
                 .first_byte = timeouts.peer_first_byte};
  const auto begun = steady_clock::now();
  const auto head = co_await ask(std::move(plan), cache::SourceKind::sibling);
  const auto ended = steady_clock::now();
  const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(ended - begun);
  if (!head) {
    if (head.error().what == Failure::What::abandoned) {
      job_.fill->fail(head.error());
      co_return Tried::answered;
    }
    const bool slow = head.error().what == Failure::What::timed_out;
    directory.note(peer, slow ? peers::ClaimOutcome::timed_out : peers::ClaimOutcome::broken, {}, 0,
                   ended);
    remark(slow ? "slow" : "broken", peer->name);
    co_return Tried::origin;
  }
  if ((*head)->status == 504 || (*head)->status == 502) {  // Squid says either
    const auto cause = cause_of(**head);
    directory.note(peer, peers::ClaimOutcome::false_hit, waited, 0, ended, cause);
    remark("false-hit", peer->name);
    if (cause != peers::FalseHit::untold) remark("because", peers::to_string(cause));
    co_await discard(worker_, *fetch_);
    co_return Tried::next;
  }
  if ((*head)->status == 416 && job_.how.part) {  // it knows the length: the origin says so better
    remark("unusable", peer->name);
    co_return Tried::next;
  }
  if ((*head)->status != 200 && !((*head)->status == 206 && job_.how.part)) {
    directory.note(peer, peers::ClaimOutcome::refused, waited, 0, ended);
    remark("refused", peer->name);
    co_return Tried::next;
  }
  provenance_.peer = peer->name;
  provenance_.host = peer->host;
  co_return co_await take_from_sibling(peer, waited);
}

Task<Filling::Tried> Filling::take_from_sibling(const peers::PeerRef& peer,
                                                std::chrono::microseconds waited) {
  auto& directory = *request().policy().directory;
  const auto may_store = cache::may_store(request().facts, fetch_->head(), times_, targets());
  entry_ = receive(cache::SourceKind::sibling);
  const bool stale = !entry_->fresh(now());
  const bool for_another = selected_by_withheld(fetch_->head(), request());
  if (may_store != cache::Storability::yes || stale || for_another) {
    const auto cause = stale         ? peers::FalseHit::stale
                       : for_another ? peers::FalseHit::variant
                                     : peers::FalseHit::untold;
    directory.note(peer, peers::ClaimOutcome::false_hit, waited, 0, steady_clock::now(), cause);
    remark("unusable", peer->name);
    entry_.reset();
    co_return Tried::next;
  }
  storing_ = true;
  const auto in_blocks =
      co_await pour_in_blocks(request().policy().settings.timeouts.peer_first_byte);
  if (in_blocks) {  // what is cut, its readers get elsewhere
    note_of_blocks(peer, waited, *in_blocks);
    co_return Tried::answered;
  }
  if (entry_->range && !is_what_was_asked()) {
    remark("unusable", peer->name);
    entry_.reset();
    storing_ = false;
    co_return Tried::next;
  }
  const bool small = !length_ || *length_ <= kHeldBack;
  held_back_ = entry_->range || (small && cache::strong_validator(*entry_).empty());
  if (!held_back_) publish(true);
  rate_.emplace(kLeastSiblingRate, request().policy().settings.timeouts.peer_first_byte);
  auto poured = co_await pour(request().policy().settings.timeouts.peer_first_byte);
  const auto ended = steady_clock::now();
  rate_.reset();
  if (poured) {
    directory.note(peer, peers::ClaimOutcome::true_hit, waited, job_.fill->received(), ended);
    if (held_back_) publish(true);
    complete();
    co_return Tried::answered;
  }
  if (poured.error().what == Failure::What::abandoned) {
    job_.fill->fail(poured.error());
    co_return Tried::answered;
  }
  directory.note(peer, peers::ClaimOutcome::broken, waited, job_.fill->received(), ended);
  remark("cut", peer->name);
  if (held_back_) {
    held_back_ = false;
    job_.fill->restart();
    block_.reset();
    co_return Tried::origin;
  }
  poured = co_await rest_from_origin(poured.error());
  if (poured) {
    complete();
  } else {
    job_.fill->fail(poured.error());
  }
  co_return Tried::answered;
}

// The sibling died after readers had seen a part: the origin's bytes follow, if they are the same.
Task<Outcome<void>> Filling::rest_from_origin(Failure cut) {
  const auto& timeouts = request().policy().settings.timeouts;
  const auto offset = job_.fill->received();
  auto head = rest_request(request(), worker_.process.name, *entry_, offset);
  if (!head) co_return cut;
  // What grows gets its head in the end, which would be that of the rest.
  if (growing_ && growing_->large()) {
    keep_what_has_grown(cut);
    stop_storing();
  }
  growing_.reset();
  const auto answer = co_await ask(to_origin(std::move(*head)), cache::SourceKind::origin);
  if (!answer) co_return answer.error();
  const auto skipped = joins_after(**answer, *entry_, offset, length_);
  if (!skipped) co_return cut;
  const auto joined = co_await skip(*skipped);
  if (!joined) co_return joined.error();
  co_return co_await pour(timeouts.body);
}

Task<void> Filling::from_origin() {
  const auto& held = job_.held;
  provenance_.peer.clear();
  const auto tags = tags_to_name(held.get());
  const auto question =
      origin_request(request(), worker_.process.name, job_.how, held.get(), tags, job_.instead);
  auto plan = to_origin(question);
  const auto head = co_await ask(std::move(plan), cache::SourceKind::origin);
  provenance_.host = fetch_->to().host;
  if (!head) {
    const auto& failure = head.error();
    const auto leave = request().policy().leave_after(failure);
    if (!stand_in(held, word(failure.what), leave)) job_.fill->fail(failure);
    co_return;
  }
  const auto status = (*head)->status;
  provenance_.fwd_status = status;
  const bool asked = held && held->has_validator();  // a refresh may be of what has none
  if (status == 304 && asked && job_.how.action == cache::Action::revalidate) {
    const bool asked_alone = tags == held->etag;
    if (take_unmodified(*held, asked_alone)) co_return;
    if (!asked_alone && hand_on_unmodified()) co_return;
    co_return co_await from_origin_anew();  // it speaks of something that we do not hold
  }
  if (job_.how.action == cache::Action::complete) {
    const auto part = joined_with_held();
    if (part && !held->object) co_return co_await take_rest(*part);
    if (part) {
      const bool completed = co_await complete_in_blocks();
      if (completed) co_return;
    }
    if (part || !answers_by_itself(status)) {
      drop_held();
      job_.held = nullptr;  // what cannot be joined to does not stand in either
      co_return co_await from_origin_anew();
    }
  }
  if (status == 304 || (status == 206 && !job_.how.part)) {  // nobody asked for that
    job_.fill->fail(kMalformed);
    co_return;
  }
  if (status == 416 && asks_for_less()) co_return co_await from_origin_as_asked();
  if (cache::is_error_to_stand_in_for(status) && stand_in(held, std::to_string(status), 0s)) {
    co_return;
  }

  const auto may_store = may_store_answer();
  entry_ = receive(cache::SourceKind::origin);
  storing_ = may_store == cache::Storability::yes;
  if (!storing_) {
    if (held && replaces(status, may_store)) drop_held();
    if (may_store != cache::Storability::useless) remark("not-stored", text(may_store));
  }
  const auto in_blocks = co_await pour_in_blocks(request().policy().settings.timeouts.body);
  if (in_blocks) co_return;
  if (status == 206 && job_.instead) co_return co_await cut_to_size();
  publish(storing_);
  co_await pour_to_the_end();
}

// What is held is not what the origin has.
Task<void> Filling::from_origin_anew() {
  job_.how.action = cache::Action::fetch;
  co_await from_origin();
}

// What was asked for in place of the client's range says nothing of that.
Task<void> Filling::from_origin_as_asked() {
  job_.instead.reset();
  co_await from_origin();
}

Task<void> Filling::pour_to_the_end() {
  const auto poured = co_await pour(request().policy().settings.timeouts.body);
  if (poured) {
    complete();
  } else {
    keep_what_came(poured.error());
    job_.fill->fail(poured.error());
  }
}

bool Filling::too_slow() const {
  const bool passed_on = published_ && !storing_;  // what is cut could not be had elsewhere
  return rate_ && !passed_on && rate_->missed();
}

FetchPlan Filling::to_origin(std::string head) const {
  const auto& timeouts = request().policy().settings.timeouts;
  FetchPlan plan;
  plan.head = std::move(head);
  plan.method = "GET";
  plan.connect = timeouts.connect;
  plan.first_byte = timeouts.first_byte;
  aim(plan, request(), request().policy().lists);
  return plan;
}

http::Targets Filling::targets() const {
  return targets_for(request(), request().policy().settings.cache);
}

cache::Time Filling::now() const {
  return worker_.process.clock.now();
}

void Filling::remark(std::string_view word, std::string_view about) {
  auto& detail = provenance_.detail;
  if (!detail.empty()) detail += ' ';
  detail.append(word).append("/").append(about);
}

}  // namespace proxy
