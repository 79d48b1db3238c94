#include "proxy/pages/pulse.hpp"

#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <utility>

#include "proxy/machine/memory.hpp"
#include "proxy/observe/events.hpp"
#include "proxy/observe/watch.hpp"
#include "proxy/pages/health.hpp"
#include "proxy/pages/texts.hpp"

namespace proxy::pages {
namespace {

// The time until shortly after the next full second. So each beat falls into a second of its own,
// though the clock may be a tick behind.
std::chrono::milliseconds until_next_second(machine::Clock::Time now) {
  constexpr std::chrono::milliseconds kShortly{20};
  const auto next = machine::whole_seconds(now) + std::chrono::seconds(1);
  return std::chrono::ceil<std::chrono::milliseconds>(next - now) + kShortly;
}

}  // namespace

void Pulse::follow(policy::PinnedPolicy policy) {
  const threads::MutexLock lock(mutex_);
  policy_.swap(policy);
}

net::Task<void> Pulse::run() {
  net::Timer timer(pages_.tiers.aside);
  for (;;) {
    // A fault in one beat must not end all later ones.
    try {
      beat();
    } catch (const std::exception& bug) {
      spdlog::error("the dashboard failed inside this proxy: {}", bug.what());
    }
    timer.expires_after(until_next_second(pages_.clock().now()));
    co_await timer.async_wait(net::as_result);
  }
}

void Pulse::beat() {
  // Here and not where neighbours are polled, which a process that leaves does no more.
  observe::flush_events(pages_.clock().steady());
  follow_clock();
  pages_.observed.history.record(machine::whole_seconds(pages_.clock().now()),
                                 observe::totals_of(pages_.observed.metrics));
  look_at_troubles();
  tell_requests();
  machine::memory::return_freed();
}

policy::PinnedPolicy Pulse::policy() {
  const threads::MutexLock lock(mutex_);
  return policy_;
}

// Polls ask the system for names, which does not say why it found none. So the name servers are
// asked here, and NameHealth learns whether the fault is theirs.
void Pulse::ask_for_neighbours(const peers::PeerDirectory& neighbours,
                               std::chrono::steady_clock::time_point now) {
  // While names fail, all are asked for, or nobody would see that they resolve again.
  const bool fail = pages_.upstream.names.fails_lately(now);
  for (const auto& status : neighbours.status(now)) {
    if (status.unresolved == 0 && !fail) continue;
    ask_(neighbours.peers()[status.id]->host);
  }
}

void Pulse::look_at_troubles() {
  const auto now = pages_.clock().steady();
  pages_.crowd.warnings.say_ended(now);
  pages_.observed.refused_neighbours.say_ended(now);
  const auto in_force = policy();
  ask_for_neighbours(*in_force->directory, now);
  pages_.upstream.names.say(now);
  std::vector<std::string> names;
  for (const auto& trouble : troubles_of(pages_, *in_force, now)) names.push_back(trouble.name());
  // Each second, whoever asks: else a trouble would begin when somebody first reads /health.
  pages_.observed.first_seen.look(names, now);
}

void Pulse::follow_clock() {
  auto& clock = pages_.clock();
  const auto steps = clock.take_steps();
  for (const auto& step : steps) observe::write_step(step);
  // What origins showed was measured against the clock before the step.
  if (!steps.empty()) pages_.upstream.clocks.forget();
  const bool doubts = clock.doubt().has_value();
  if (std::exchange(doubts_ages_, doubts) && !doubts) observe::write_ages_right();
  if (!pages_.tiers.disk || !pages_.tiers.disk->follow_clock(clock.ahead())) return;
  pages_.tiers.store.remove_if([started = clock.started()](const cache::Entry& entry) {
    return entry.times().response < started;
  });
}

void Pulse::hurry() {
  net::asio::post(pages_.tiers.aside, [this] { tell_requests(); });
}

void Pulse::tell_requests() {
  const auto requests = pages_.observed.recent.newer_than(known_);
  pages_.observed.busiest.record(requests, pages_.clock().steady());
  // The text for watchers takes milliseconds; all before is needed also if nobody watches.
  if (pages_.visitors.watchers.count() == 0) return;
  const auto pinned = policy();
  const auto as_event = [](const std::string& text) {
    return std::make_shared<const std::string>("data: " + text + "\n\n");
  };
  // Made once for all watchers, whatever their number.
  const auto to_others = as_event(news_json(pages_, *pinned, Audience::monitors));
  auto to_admins = to_others;
  if (pages_.visitors.watchers.any_admin()) {
    auto news = news_json(pages_, *pinned, Audience::admins);
    to_admins = as_event(with_requests(std::move(news), requests));
  }
  pages_.visitors.watchers.tell(to_admins, to_others);
}

}  // namespace proxy::pages
