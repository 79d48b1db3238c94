// Two I/O threads with the state that all threads share.
#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "proxy/server/storage.hpp"
#include "proxy/server/worker.hpp"
#include "proxy/tiers/store_holdings.hpp"

namespace proxy::server {

inline constexpr std::size_t kThreads = 2;

// Each policy of this test has its number in two settings.
inline policy::PinnedPolicy policy_of(unsigned number) {
  config::Settings settings;
  settings.log.access = config::LogTarget::none;
  settings.limits.connections = number;
  settings.timeouts.drain = std::chrono::milliseconds(number);
  return std::make_shared<const policy::Policy>(std::move(settings), lists::AccessLists{});
}

struct Threads {
  // The clock runs, or stands.
  explicit Threads(std::optional<machine::Clock::Time> stands_at = std::nullopt)
      : clock(stands_at ? machine::Clock(*stands_at) : machine::Clock()) {
    workers.follow(policy_of(1));
  }
  ~Threads() {
    workers.stop();
    workers.end_coroutines();
  }

  // The results of `ask` on each thread, in the order of the threads.
  std::vector<unsigned> on_each(const std::function<unsigned(Worker&)>& ask) {
    std::vector<std::promise<unsigned>> answers(kThreads);
    workers.on_each([&](Worker& worker) {
      std::size_t number = 0;
      while (&workers.workers()[number] != &worker) ++number;
      answers[number].set_value(ask(worker));
    });
    std::vector<unsigned> all;
    for (auto& answer : answers) all.push_back(answer.get_future().get());
    return all;
  }

  const config::Settings settings;
  const std::vector<net::tcp::endpoint> listening;
  machine::Clock clock;
  Storage storage{settings, clock};
  tiers::StoreHoldings holdings{storage.store};
  peers::Publisher publisher{holdings, settings.digest, clock.now(), digest::unpredictable()};
  upstream::TlsClient tls;
  Loop aside;
  Shared shared{{.name = "cache-a",
                 .listening = listening,
                 .settings = policy_of(1)->settings,
                 .threads = kThreads,
                 .storage = storage,
                 .clock = clock,
                 .publisher = publisher,
                 .tls = tls,
                 .aside = aside.get_executor()}};
  WorkerThreads workers{shared, aside, kThreads};
};

}  // namespace proxy::server
