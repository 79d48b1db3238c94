#include "proxy/pages/pulse.hpp"

#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <utility>

#include "proxy/memory/return_freed.hpp"
#include "proxy/observe/clock_watch.hpp"
#include "proxy/pages/health.hpp"
#include "proxy/pages/live_json.hpp"

namespace proxy {
namespace {

// The time until shortly after the next full second. So each beat falls into a second of its own,
// though the clock may be a tick behind.
std::chrono::milliseconds until_next_second(machine::Clock::Time now) {
  constexpr std::chrono::milliseconds kShortly{20};
  const auto next = machine::whole_seconds(now) + std::chrono::seconds(1);
  return std::chrono::ceil<std::chrono::milliseconds>(next - now) + kShortly;
}

net::Task<void> ask_name(Worker& worker, std::string host) {
  co_await worker.outgoing.resolver.resolve(std::move(host));
}

}  // namespace

void Pulse::follow(PinnedPolicy policy) {
  const threads::MutexLock lock(mutex_);
  policy_.swap(policy);
}

net::Task<void> Pulse::run() {
  net::Timer timer(process_.aside);
  for (;;) {
    try {
      beat();
    } catch (const std::exception& bug) {
      spdlog::error("the dashboard failed inside this proxy: {}", bug.what());
    }
    timer.expires_after(until_next_second(process_.clock.now()));
    co_await timer.async_wait(net::as_result);
  }
}

void Pulse::beat() {
  follow_clock();
  process_.history.note(machine::whole_seconds(process_.clock.now()), totals_of(process_.metrics));
  look_at_troubles();
  tell_requests();
  memory::return_freed();
}

PinnedPolicy Pulse::policy() {
  const threads::MutexLock lock(mutex_);
  return policy_;
}

// Polls ask the system for names, which does not say why it found none. So the first worker that
// has time asks the name servers itself, and NameHealth learns whether the fault is theirs.
void Pulse::ask_for_neighbours(const peers::PeerDirectory& neighbours,
                               std::chrono::steady_clock::time_point now) {
  if (!process_.on_each_worker) return;
  for (const auto& status : neighbours.status(now)) {
    if (status.unresolved == 0) continue;
    const auto& host = neighbours.peers()[status.id]->host;
    process_.on_each_worker([host, asked = std::make_shared<std::atomic<bool>>()](Worker& worker) {
      if (asked->exchange(true)) return;
      net::spawn(worker.io.get_executor(), ask_name(worker, host));
    });
  }
}

void Pulse::look_at_troubles() {
  const auto now = std::chrono::steady_clock::now();
  process_.warnings.say_ended(now);
  process_.refused_neighbours.say_ended(now);
  const auto in_force = policy();
  ask_for_neighbours(*in_force->directory, now);
  process_.name_health.say(now);
  std::vector<std::string> names;
  for (const auto& trouble : troubles_of(process_, *in_force, now)) names.push_back(trouble.name());
  process_.first_seen.look(names, now);
}

void Pulse::follow_clock() {
  auto& clock = process_.clock;
  const auto steps = clock.take_steps();
  for (const auto& step : steps) say_step(step);
  if (!steps.empty()) process_.origin_clocks.forget();
  const bool doubts = clock.doubt().has_value();
  if (std::exchange(doubts_ages_, doubts) && !doubts) say_ages_right();
  if (!process_.cache.disk || !process_.cache.disk->follow_clock(clock.ahead())) return;
  process_.cache.store.remove_if([started = clock.started()](const cache::Entry& entry) {
    return entry.times().response < started;
  });
}

void Pulse::hurry() {
  net::asio::post(process_.aside, [this] { tell_requests(); });
}

void Pulse::tell_requests() {
  const auto requests = process_.recent.newer_than(known_);
  process_.busiest.note(requests, std::chrono::steady_clock::now());
  if (process_.watchers.count() == 0) return;
  const auto pinned = policy();
  const auto as_event = [](const std::string& text) {
    return std::make_shared<const std::string>("data: " + text + "\n\n");
  };
  const auto to_others = as_event(news_json(process_, *pinned, Audience::monitors));
  auto to_admins = to_others;
  if (process_.watchers.any_admin()) {
    auto news = news_json(process_, *pinned, Audience::admins);
    to_admins = as_event(with_requests(std::move(news), requests, *pinned));
  }
  process_.watchers.tell(to_admins, to_others);
}

}  // namespace proxy
