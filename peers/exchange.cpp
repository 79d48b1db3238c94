#include "peers/exchange.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <deque>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "config/counted.hpp"
#include "peers/curl.hpp"
#include "peers/memory_shares.hpp"
#include "peers/native_target.hpp"
#include "peers/poll_plan.hpp"
#include "peers/poll_response.hpp"
#include "peers/transfer.hpp"
#include "peers/work_account.hpp"

namespace peers {
namespace {

using Clock = std::chrono::steady_clock;

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
  Poller(std::size_t its_place, PeerRef with, CURLM* multi, InFlight& in_flight,
         const std::string& agent, const PollLimits& limits, PollReport so_far)
      : place(its_place),
        peer(std::move(with)),
        transfer(multi, in_flight, *peer, agent, limits),
        report(std::move(so_far)) {
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
  Transfer transfer;
  PollRequest request;
  PollReport report;
  WorkAccount account;
  bool asking = false;
  std::chrono::milliseconds hold{0};  // that the request under way asks for
  std::chrono::milliseconds took{0};  // until its last good answer began, the hold not counted
  SteadyTime begun{};                 // when the last request began
  SteadyTime due{};                   // while not asking
  SteadyTime ended{};                 // when the last request ended
  SteadyTime native_again{};          // only matters while DigestForm::squid is a guess
};

// Bytes of filter that each peer keeps, in the order of the pollers.
std::vector<std::size_t> kept_by(const std::deque<Poller>& pollers) {
  std::vector<std::size_t> kept;
  kept.reserve(pollers.size());
  for (const Poller& poller : pollers) {
    const auto& filter = poller.report.claims.filter;
    kept.push_back(filter ? filter->bytes().size() : 0);
  }
  return kept;
}

InFlight in_flight_for(const PeerDirectory& directory, std::size_t limit) {
  std::size_t peers = 0;
  for (const auto& peer : directory.peers()) peers += peer->digest != config::PeerDigest::none;
  const std::size_t each = share_of_each(limit, peers) + digest::kSquidControlBytes;
  return {.limit = limit + peers * digest::kSquidControlBytes, .share = each};
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
  Loop(PeerDirectory& directory, const config::DigestSettings& settings, const std::string& agent,
       std::function<void()> tick, const PollLimits& limits, threads::Alarm* hurry,
       std::atomic<std::uint64_t>* turns, std::function<bool(Epoch)> names_us)
      : directory_(directory),
        settings_(settings),
        tick_(std::move(tick)),
        multi_(curl_multi_init()),
        in_flight_(in_flight_for(directory, settings.peer_memory.value)),
        limits_(limits),
        hurry_(hurry),
        turns_(turns),
        names_us_(std::move(names_us)) {
    for (const PeerRef& peer : directory.peers()) {
      if (peer->digest == config::PeerDigest::none) continue;
      pollers_.emplace_back(pollers_.size(), peer, multi_.get(), in_flight_, agent, limits,
                            directory.report(peer->id));
    }
    keep_connections();
    thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
  }

  ~Loop() {
    thread_.request_stop();
    curl_multi_wakeup(multi_.get());
    thread_.join();
  }

  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

 private:
  // By default libcurl keeps four connections for each transfer under way, so it closed most of
  // them between two polls. The second one of each peer replaces one that has just failed.
  void keep_connections() {
    const auto connections = static_cast<long>(2 * pollers_.size());
    curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, std::max(connections, 1L));
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (turns_) turns_->fetch_add(1, std::memory_order_relaxed);
      tick_if_due();
      ask_who_is_due();
      const SteadyTime looked = Clock::now();
      int running = 0;
      curl_multi_perform(multi_.get(), &running);
      take_responses();
      give_up_on_the_silent(looked);
      sleep();
    }
  }

  void sleep() {
    curl_waitfd alarm{
        .fd = hurry_ ? hurry_->descriptor() : -1, .events = CURL_WAIT_POLLIN, .revents = 0};
    curl_multi_poll(multi_.get(), &alarm, hurry_ ? 1 : 0, until_next(), nullptr);
    if (alarm.revents != 0 && hurry_->rang()) next_tick_ = Clock::now();
  }

  void tick_if_due() {
    const SteadyTime now = Clock::now();
    if (now < next_tick_) return;
    next_tick_ = std::max(next_tick_ + settings_.period, now);
    tick_();
    directory_.follow_use(now);
  }

  // The pause after failures ends when the peer polls us, because then it runs.
  void end_pauses_of_the_heard() {
    for (Poller& poller : pollers_) {
      const bool failed = poller.report.failures_in_a_row > 0;
      if (!failed || poller.peer->accuracy.probation().last_heard() <= poller.ended) continue;
      poller.due = std::min(poller.due, poller.ended + settings_.poll);
    }
  }

  void ask_who_is_due() {
    end_pauses_of_the_heard();
    const SteadyTime now = Clock::now();
    const auto due_by = [&](SteadyTime time) {
      return [time](const Poller& poller) { return !poller.asking && poller.due <= time; };
    };
    if (std::none_of(pollers_.begin(), pollers_.end(), due_by(now))) return;
    const auto is_due_soon = due_by(now + settings_.poll / kTogether);
    for (Poller& poller : pollers_) {
      if (is_due_soon(poller)) ask(poller);
    }
  }

  void ask(Poller& poller) {
    PollRequest& request = poller.request;
    const Claims& claims = poller.report.claims;
    if (request.form_is_a_guess && Clock::now() >= poller.native_again)
      request.form = DigestForm::native;
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
    poller.hold = may_wait ? hold_of(limits_, settings_.poll) : std::chrono::milliseconds{0};
    poller.begun = Clock::now();
    poller.asking = true;
    poller.transfer.begin({.target = native ? native_target(claims.native.get(), poller.hold)
                                            : std::string(kSquidPath),
                           .accept = native ? kNativeType : kSquidType,
                           .etag = etag,
                           .max_body = room_for(poller) + digest::kSquidControlBytes,
                           .hold = poller.hold,
                           .silence = silence_of(limits_, failures, poller.took)});
  }

  // Bytes that the filter of a new digest may have.
  std::size_t room_for(const Poller& poller) const {
    const std::size_t room =
        peers::room_for(kept_by(pollers_), poller.place, settings_.peer_memory.value);
    return std::min(room, digest::kMaxSquidMaskBytes);
  }

  // Drops digests until all fit beside the newest, which was kept within its room.
  void make_room_beside(const Poller& newest) {
    const std::size_t limit = settings_.peer_memory.value;
    while (const auto place = to_give_way(kept_by(pollers_), newest.place, limit)) {
      Poller& largest = pollers_[*place];
      give_up_on_delta(largest);
      give_way(largest.report);
      spdlog::warn("peer {}: {}", largest.peer->name, largest.report.last_error);
      directory_.update(largest.peer->id, largest.report);
    }
  }

  // What is under way leads on from a digest that is dropped. A held poll would keep the peer from
  // being asked for a whole one.
  static void give_up_on_delta(Poller& poller) {
    poller.request.base.reset();
    if (!poller.asking) return;
    poller.transfer.end();
    poller.asking = false;
    poller.due = Clock::now();
  }

  void take_responses() {
    int queued = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &queued)) {
      const auto from = std::find_if(pollers_.begin(), pollers_.end(), [&](const Poller& poller) {
        return poller.transfer.handle() == message->easy_handle;
      });
      take(*from, message->data.result);
    }
  }

  // What had arrived when we looked last has been read, so a peer is not blamed for the time that
  // this thread took since.
  void give_up_on_the_silent(SteadyTime looked) {
    for (Poller& poller : pollers_) {
      const bool is_silent = poller.asking && poller.transfer.silent_until() <= looked;
      if (is_silent) take(poller, CURLE_OPERATION_TIMEDOUT);
    }
  }

  // Reads the response, and charges the peer for it.
  PollResult read(Poller& poller, CURLcode code) {
    const auto used_before = time_used();
    const std::string error = poller.transfer.finish(code);
    // Other digests may have been kept since the request was sent.
    poller.request.room = room_for(poller);
    PollResult result = error.empty() ? read_poll(poller.request, poller.transfer.response())
                                      : no_response(poller.request, error);
    result.unresolved = poller.transfer.unresolved();
    if (poller.peer->digest == config::PeerDigest::squid) result.kind = PeerKind::squid;
    poller.account.charge(time_used() - used_before, poller.transfer.received(), Clock::now());
    return result;
  }

  // Whether we have answered the poll ourselves. If nobody has, who the peer is has not changed.
  bool is_by_us(const Poller& poller, const PollResult& result) const {
    if (const auto epoch = result.identity.epoch()) return names_us_(*epoch);
    return result.outcome == Polled::failed && poller.peer->is_ourselves();
  }

  void leave_out(Poller& poller, SteadyTime now) {
    poller.report = {};
    poller.report.address = poller.transfer.address();
    poller.transfer.end();
    poller.asking = false;
    poller.due = now + kOurselvesAgain;
    directory_.update(poller.peer->id, poller.report);
  }

  void take(Poller& poller, CURLcode code) {
    const PollResult result = read(poller, code);
    const SteadyTime now = Clock::now();
    const bool us = poller.peer->record->ourselves = is_by_us(poller, result);
    if (us) return leave_out(poller, now);
    const PollReport before = poller.report;
    poller.report.polls.bytes_received += poller.transfer.received();
    if (const auto reached = poller.transfer.address()) poller.report.address = reached;
    const auto waited = poller.transfer.waited();
    const auto held = held_for(poller.hold, waited);
    if (result.outcome != Polled::failed) poller.took = waited - held;
    // An answer that began and was no good has not been waited for.
    const auto overdue =
        poller.transfer.began() ? std::chrono::milliseconds{0} : overdue_by(poller, now);
    // If it was us, we have refused our digest to an address that we know from now on.
    const bool is_new = !before.address && !config::parse_address(poller.peer->host);
    const bool at_once = is_new && poller.transfer.began() && result.outcome == Polled::failed;
    poller.transfer.end();
    enter(poller.report, result, now);
    if (at_once) poller.report.forgive();
    poller.choose_form(result.outcome, before.kind, now);
    log_change(*poller.peer, before, poller.report);
    make_room_beside(poller);
    directory_.update(poller.peer->id, poller.report);
    poller.asking = false;
    poller.ended = now;
    if (poller.report.failures_in_a_row == kDownAfter) next_tick_ = now;
    const SteadyTime due = next_poll({.kind = poller.report.kind,
                                      .outcome = result.outcome,
                                      .failures_in_a_row = poller.report.failures_in_a_row,
                                      .expires_in = result.expires_in,
                                      .held = held,
                                      .overdue = overdue,
                                      .unresolved = result.unresolved},
                                     settings_.poll, jitter_(random_), now);
    poller.due = std::max(at_once ? now : due, poller.account.free_at());
    if (poller.due - due > kLongWait) {
      spdlog::warn("peer {}: its digests take too long to read, so the next poll waits {} s",
                   poller.peer->name,
                   std::chrono::ceil<std::chrono::seconds>(poller.due - now).count());
    }
  }

  // Milliseconds, rounded up. libcurl returns earlier if one of its transfers needs it.
  int until_next() const {
    SteadyTime next = next_tick_;
    for (const Poller& poller : pollers_) {
      next = std::min(next, poller.asking ? poller.transfer.silent_until() : poller.due);
    }
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(wait.count(), 0, kLongestSleep.count()));
  }

  PeerDirectory& directory_;
  const config::DigestSettings settings_;
  const std::function<void()> tick_;
  const Curl curl_;
  const CurlMulti multi_;
  InFlight in_flight_;
  const PollLimits limits_;
  threads::Alarm* const hurry_;
  std::atomic<std::uint64_t>* const turns_;
  const std::function<bool(Epoch)> names_us_;
  std::deque<Poller> pollers_;
  SteadyTime next_tick_{};
  std::minstd_rand random_{std::random_device{}()};
  std::uniform_real_distribution<double> jitter_{0.0, 1.0};
  std::jthread thread_;  // last: the thread uses everything above
};

Exchange::Exchange(PeerDirectory& directory, const config::DigestSettings& settings,
                   std::string agent, std::function<void()> tick, PollLimits limits,
                   threads::Alarm* hurry, std::atomic<std::uint64_t>* turns,
                   std::function<bool(Epoch)> names_us)
    : loop_(std::make_unique<Loop>(directory, settings, agent, std::move(tick), limits, hurry,
                                   turns, std::move(names_us))) {}

Exchange::~Exchange() = default;

}  // namespace peers
