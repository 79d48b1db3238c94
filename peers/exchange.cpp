#include "peers/exchange.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <deque>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "config/counted.hpp"
#include "peers/curl.hpp"
#include "peers/native_target.hpp"
#include "peers/poll.hpp"
#include "peers/transfer.hpp"

namespace peers {
namespace {

constexpr std::chrono::minutes kNativeAgain{10};
constexpr std::chrono::minutes kOurselvesAgain{1};
constexpr std::chrono::seconds kLongWait{5};  // is logged
constexpr std::chrono::milliseconds kLongestSleep{1'000};
// Polls that are due within this share of digest.poll are begun together: one pass of the loop then
// serves them all. At 1 s that is 50 ms.
constexpr int kTogether = 20;
constexpr std::string_view kSquidPath = "/squid-internal-periodic/store_digest";
constexpr std::string_view kSquidType = "application/cache-digest";

// Polls one peer.
struct Poller {
  Poller(std::size_t its_place, PeerRef with, PollReport so_far)
      : place(its_place), peer(std::move(with)), report(std::move(so_far)) {
    request.form_is_a_guess = peer->digest == config::PeerDigest::automatic;
    if (peer->digest == config::PeerDigest::squid) {
      request.form = DigestForm::squid;
      report.kind = PeerKind::squid;
    }
  }

  // Chooses the form that the next request asks for.
  void choose_form(Polled outcome, PeerKind before, SteadyTime now) {
    if (!request.form_is_a_guess) return;
    if (outcome == Polled::other_form) {
      request.form = DigestForm::squid;
      native_again = now + kNativeAgain;
    } else if (report.kind == PeerKind::hearsay && before != PeerKind::hearsay) {
      request.form = DigestForm::native;
    }
  }

  const std::size_t place;  // among the pollers
  PeerRef peer;
  std::optional<Transfer> transfer;  // while the peer is being asked
  PollRequest request;
  PollReport report;
  WorkAccount account;
  // That the request under way asks for; then how long the peer held it.
  std::chrono::milliseconds hold{0};
  std::chrono::milliseconds took{0};  // until its last good answer began, the hold not counted
  SteadyTime begun{};                 // when the last request began
  SteadyTime due{};                   // while it is not being asked
  SteadyTime ended{};                 // when the last request ended
  SteadyTime native_again{};          // only matters while DigestForm::squid is a guess
};

// Bytes of filter that each peer keeps, in the order of the pollers.
std::vector<std::size_t> kept_by(const std::deque<Poller>& pollers) {
  std::vector<std::size_t> kept;
  for (const Poller& poller : pollers) {
    const auto& filter = poller.report.claims.filter;
    kept.push_back(filter ? filter->bytes().size() : 0);
  }
  return kept;
}

Transfers transfers_for(const Exchange::Needs& needs, CURLM* multi) {
  // What arrives is beside what is kept, so the bodies of all transfers have a bound of their own.
  const std::size_t limit = needs.settings.peer_memory.value;
  std::size_t peers = 0;
  for (const auto& peer : needs.directory.peers())
    peers += peer->digest != config::PeerDigest::none;
  return {.multi = multi,
          .agent = needs.agent,
          .limits = needs.limits,
          .now = needs.now,
          .limit = limit + peers * digest::kSquidControlBytes,
          .share = share_of_each(limit, peers) + digest::kSquidControlBytes};
}

// Processor time of this thread.
std::chrono::nanoseconds time_used() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

// For how long the answer has been waited for, beyond the time that the peer was asked to hold it.
std::chrono::milliseconds overdue_by(const Poller& poller, SteadyTime now) {
  const auto waited = std::chrono::floor<std::chrono::milliseconds>(now - poller.begun);
  return std::max(waited - poller.hold, std::chrono::milliseconds{0});
}

// Logs the differences between two reports; nothing if there are none. Whoever watches the
// directory says which peers are down.
void log_change(const Peer& peer, const PollReport& before, const PollReport& after) {
  if (after.failures_in_a_row > 0) return;
  if (after.last_error != before.last_error && !after.last_error.empty()) {
    spdlog::warn("peer {}: {}", peer.name, after.last_error);
  } else if (after.kind != before.kind || (after.claims.filter && !before.claims.filter)) {
    spdlog::info("peer {} ({}): digest of {}", peer.name, to_string(after.kind),
                 config::counted(after.claims.entries, "entry", "entries"));
  }
}

}  // namespace

class Exchange::Loop {
 public:
  explicit Loop(Needs needs)
      : needs_(std::move(needs)), transfers_(transfers_for(needs_, sockets_.multi())) {
    for (const PeerRef& peer : needs_.directory.peers()) {
      if (peer->digest == config::PeerDigest::none) continue;
      pollers_.emplace_back(pollers_.size(), peer, needs_.directory.report(peer->id));
    }
    // By default libcurl keeps four connections for each transfer under way, so it closed most of
    // them between two polls. The second one of each peer replaces one that has just failed.
    const auto connections = static_cast<long>(2 * pollers_.size());
    curl_multi_setopt(sockets_.multi(), CURLMOPT_MAXCONNECTS, std::max(connections, 1L));
    stop_.set();
    thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
  }

  ~Loop() {
    thread_.request_stop();
    stop_.ring();
    thread_.join();
  }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (needs_.turns) needs_.turns->fetch_add(1, std::memory_order_relaxed);
      tick_if_due(needs_.now());
      poll_due_peers(needs_.now());
      const SteadyTime looked = needs_.now();
      sockets_.serve();
      read_responses();
      give_up_on_the_silent(looked);
      sleep();
    }
  }

  void sleep() {
    auto* const hurry = needs_.hurry;
    // One wait for all: what hurries the tick ends it as the bytes of an answer do.
    const bool rings = sockets_.wait(hurry ? hurry->descriptor() : -1, stop_.descriptor(),
                                     until_next(needs_.now()));
    if (rings && hurry->rang()) next_tick_ = needs_.now();
  }

  void tick_if_due(SteadyTime now) {
    if (now < next_tick_) return;
    next_tick_ = std::max(next_tick_ + needs_.settings.period, now);
    needs_.tick();
    needs_.directory.record_use(now);
  }

  // The pause after failures ends when the peer polls us, because then it runs.
  void end_pauses_of_the_heard() {
    for (Poller& poller : pollers_) {
      const bool failed = poller.report.failures_in_a_row > 0;
      if (!failed || poller.peer->accuracy.probation().last_heard() <= poller.ended) continue;
      poller.due = std::min(poller.due, poller.ended + needs_.settings.poll);
    }
  }

  void poll_due_peers(SteadyTime now) {
    end_pauses_of_the_heard();
    const auto due_by = [](SteadyTime time) {
      return [time](const Poller& poller) { return !poller.transfer && poller.due <= time; };
    };
    if (std::none_of(pollers_.begin(), pollers_.end(), due_by(now))) return;
    const auto is_due_soon = due_by(now + needs_.settings.poll / kTogether);
    for (Poller& poller : pollers_) {
      if (is_due_soon(poller)) ask(poller, now);
    }
  }

  void ask(Poller& poller, SteadyTime now) {
    PollRequest& request = poller.request;
    const Claims& claims = poller.report.claims;
    if (request.form_is_a_guess && now >= poller.native_again) request.form = DigestForm::native;
    const bool native = request.form == DigestForm::native;
    request.known = poller.report.kind;
    request.base = native ? claims.native : nullptr;
    // An entity tag received with the other form belongs to other bytes.
    const bool conditional = native == !!claims.native;
    const std::string etag = conditional ? poller.report.etag : std::string();
    request.conditional = !etag.empty();
    // Only what can be answered by 304 is worth waiting for, and not by a peer that may be back.
    const auto failures = poller.report.failures_in_a_row;
    const bool may_wait = native && request.conditional && failures == 0;
    poller.hold = may_wait ? hold_time(needs_.limits, needs_.settings.poll, poller.hold)
                           : std::chrono::milliseconds{0};
    poller.begun = now;
    const Transfer::Request asked{.target = native ? native_target(claims.native.get(), poller.hold)
                                                   : std::string(kSquidPath),
                                  .accept = native ? kNativeType : kSquidType,
                                  .etag = etag,
                                  .max_body = room_for(poller) + digest::kSquidControlBytes,
                                  .hold = poller.hold,
                                  .silence = silence_of(needs_.limits, failures, poller.took)};
    poller.transfer.emplace(transfers_, *poller.peer, asked);
  }

  // Bytes that the filter of a new digest may have.
  std::size_t room_for(const Poller& poller) const {
    const std::size_t room =
        peers::room_for(kept_by(pollers_), poller.place, needs_.settings.peer_memory.value);
    return std::min(room, digest::kMaxSquidMaskBytes);
  }

  // Drops digests until all fit beside the newest, which was kept within its room.
  void make_room_beside(const Poller& newest) {
    const std::size_t limit = needs_.settings.peer_memory.value;
    while (const auto place = to_give_way(kept_by(pollers_), newest.place, limit)) {
      Poller& largest = pollers_[*place];
      give_up_on_delta(largest);
      give_way(largest.report);
      spdlog::warn("peer {}: {}", largest.peer->name, largest.report.last_error);
      needs_.directory.update(largest.peer->id, largest.report);
    }
  }

  // What is under way leads on from a digest that is dropped. A held poll would keep the peer from
  // being asked for a whole one.
  static void give_up_on_delta(Poller& poller) {
    poller.request.base.reset();
    if (!poller.transfer) return;
    poller.transfer.reset();
    poller.due = {};
  }

  void read_responses() {
    int queued = 0;
    while (const CURLMsg* message = curl_multi_info_read(sockets_.multi(), &queued)) {
      // There is one: a transfer that was given up has taken its message out of the queue.
      const auto from = std::find_if(pollers_.begin(), pollers_.end(), [&](const Poller& poller) {
        return poller.transfer && poller.transfer->handle() == message->easy_handle;
      });
      end_poll(*from, message->data.result);
    }
  }

  // What had arrived when we looked last has been read, so a peer is not blamed for the time that
  // this thread took since.
  void give_up_on_the_silent(SteadyTime looked) {
    for (Poller& poller : pollers_) {
      const bool is_silent = poller.transfer && poller.transfer->silent_until() <= looked;
      if (is_silent) end_poll(poller, CURLE_OPERATION_TIMEDOUT);
    }
  }

  PollResult read(Poller& poller, CURLcode code) {
    auto& transfer = *poller.transfer;
    const std::string error = transfer.finish(code);
    // Other digests may have been kept since the request was sent.
    poller.request.room = room_for(poller);
    PollResult result = error.empty() ? read_poll(poller.request, transfer.response())
                                      : no_response(poller.request, error);
    result.unresolved = transfer.unresolved();
    if (poller.peer->digest == config::PeerDigest::squid) result.kind = PeerKind::squid;
    return result;
  }

  // Whether we have answered the poll ourselves. If nobody has, who the peer is has not changed.
  bool is_by_us(const Poller& poller, const PollResult& result) const {
    if (const auto epoch = result.identity.epoch()) return needs_.names_us(*epoch);
    return result.outcome == Polled::failed && poller.peer->is_ourselves();
  }

  void leave_out(Poller& poller, SteadyTime now) {
    poller.report = {};
    poller.report.address = poller.transfer->address();
    poller.transfer.reset();
    poller.due = now + kOurselvesAgain;
    needs_.directory.update(poller.peer->id, poller.report);
  }

  // Ends the poll, which `code` says has arrived or failed, and charges the peer for the work.
  void end_poll(Poller& poller, CURLcode code) {
    const auto used_before = time_used();
    const PollResult result = read(poller, code);
    const SteadyTime now = needs_.now();
    const auto& transfer = *poller.transfer;
    poller.account.charge(time_used() - used_before, transfer.received(), now);
    const bool us = poller.peer->record->ourselves = is_by_us(poller, result);
    if (us) return leave_out(poller, now);
    const PollReport before = poller.report;
    poller.report.polls.bytes_received += transfer.received();
    if (const auto reached = transfer.address()) poller.report.address = reached;
    const auto waited = transfer.waited();
    const auto held = held_for(poller.hold, waited);
    if (result.outcome != Polled::failed) poller.took = waited - held;
    // An answer that began and was no good has not been waited for.
    const bool began = transfer.began();
    const auto overdue = began ? std::chrono::milliseconds{0} : overdue_by(poller, now);
    poller.hold = held;
    // If it was us, we have refused our digest to an address that we know from now on.
    const bool is_new = !before.address && !config::parse_address(poller.peer->host);
    const bool at_once = is_new && began && result.outcome == Polled::failed;
    poller.transfer.reset();
    poller.ended = now;
    enter(poller.report, result, now);
    if (at_once) poller.report.forgive();
    poller.choose_form(result.outcome, before.kind, now);
    log_change(*poller.peer, before, poller.report);
    make_room_beside(poller);
    needs_.directory.update(poller.peer->id, poller.report);
    // The tick tells whoever watches the neighbours, and should not come a period later.
    if (poller.report.failures_in_a_row == kDownAfter) next_tick_ = now;
    const double jitter = std::ldexp(static_cast<double>(needs_.random() >> 11), -53);  // below 1
    const SteadyTime due = next_poll({.kind = poller.report.kind,
                                      .outcome = result.outcome,
                                      .failures_in_a_row = poller.report.failures_in_a_row,
                                      .expires_in = result.expires_in,
                                      .held = held,
                                      .overdue = overdue,
                                      .unresolved = result.unresolved},
                                     needs_.settings.poll, jitter, now);
    poller.due = std::max(at_once ? now : due, poller.account.free_at());
    if (poller.due - due > kLongWait) {
      spdlog::warn("peer {}: its digests take too long to read, so the next poll waits {} s",
                   poller.peer->name,
                   std::chrono::ceil<std::chrono::seconds>(poller.due - now).count());
    }
  }

  std::chrono::milliseconds until_next(SteadyTime now) const {
    SteadyTime next = next_tick_;
    for (const Poller& poller : pollers_) {
      next = std::min(next, poller.transfer ? poller.transfer->silent_until() : poller.due);
    }
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - now);
    return std::clamp(wait, std::chrono::milliseconds{0}, kLongestSleep);
  }

  const Needs needs_;
  const Curl curl_;
  threads::Alarm stop_;
  Sockets sockets_;
  Transfers transfers_;
  std::deque<Poller> pollers_;
  SteadyTime next_tick_{};
  std::jthread thread_;  // last: the thread uses everything above
};

Exchange::Exchange(Needs needs) : loop_(std::make_unique<Loop>(std::move(needs))) {}

Exchange::~Exchange() = default;

}  // namespace peers
