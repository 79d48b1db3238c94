#include "proxy/server/worker_threads.hpp"

#include <gtest/gtest.h>

#include <array>
#include <future>

#include "proxy/request/request.hpp"
#include "proxy/server/storage.hpp"
#include "proxy/server/store_holdings.hpp"

namespace proxy {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kThreads = 2;

// Each policy of this test has its number in two settings.
PinnedPolicy policy_of(unsigned number) {
  config::Settings settings;
  settings.log.access = config::LogTarget::none;
  settings.limits.connections = number;
  settings.timeouts.drain = milliseconds(number);
  return std::make_shared<const Policy>(std::move(settings), lists::AccessLists{});
}

unsigned number_of(const Policy& policy) {
  EXPECT_EQ(policy.settings.limits.connections,
            static_cast<std::size_t>(policy.settings.timeouts.drain.count()));
  return static_cast<unsigned>(policy.settings.limits.connections);
}

struct Threads {
  Threads() { workers.follow(policy_of(1)); }
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
  WallClock clock;
  Storage storage{settings.cache};
  StoreHoldings holdings{storage.store};
  peers::Publisher publisher{holdings, settings.digest, clock.now()};
  Metrics metrics{kThreads};
  AccessLog log{policy_of(1)->settings.log, kThreads};
  upstream::TlsClient tls;
  Loop aside;
  Process process{.name = "cache-a",
                  .listening = listening,
                  .clock = clock,
                  .budget = storage.budget,
                  .transit = storage.transit,
                  .store = storage.store,
                  .fills = storage.fills,
                  .runs = storage.runs,
                  .publisher = publisher,
                  .metrics = metrics,
                  .log = log,
                  .tls = tls,
                  .aside = aside.get_executor()};
  WorkerThreads workers{process, aside, kThreads};
};

std::unique_ptr<Request> begun_on(Worker& worker) {
  constexpr std::string_view kText = "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n";
  auto request = parse_request(kText, {}).value();
  request->pin(worker.policy());
  return request;
}

TEST(WorkerThreads, ARequestKeepsThePolicyThatItBeganWith) {
  Threads threads;
  threads.workers.start();
  std::array<std::unique_ptr<Request>, kThreads> before;
  std::atomic<std::size_t> begun{0};
  threads.on_each([&](Worker& worker) {
    before[begun++] = begun_on(worker);
    return 0U;
  });
  threads.workers.follow(policy_of(2));
  const auto after =
      threads.on_each([](Worker& worker) { return number_of(begun_on(worker)->policy()); });
  EXPECT_EQ(after, (std::vector<unsigned>{2, 2}));
  for (const auto& request : before) EXPECT_EQ(number_of(request->policy()), 1U);
}

TEST(WorkerThreads, FetchesAndGuardsFollowTheNewestPolicy) {
  Threads threads;
  threads.workers.start();
  config::Settings settings;
  settings.limits.fields = 7;
  settings.access.deny_to = config::parse_networks("203.0.113.0/24").value();
  threads.workers.follow(std::make_shared<const Policy>(settings, lists::AccessLists{}));
  const auto fields = threads.on_each([](Worker& worker) {
    const auto denied = net::asio::ip::make_address("203.0.113.1");
    EXPECT_FALSE(worker.outgoing.guard.allows(denied, 80, upstream::Trust::client));
    return static_cast<unsigned>(worker.outgoing.upstream.limits.fields);
  });
  EXPECT_EQ(fields, (std::vector<unsigned>{7, 7}));
}

TEST(WorkerThreads, RequestsBeginAndEndWhilePoliciesComeAndGo) {
  Threads threads;
  threads.workers.start();
  for (unsigned number = 2; number < 200; ++number) {
    threads.workers.on_each([](Worker& worker) {
      auto request = std::shared_ptr<Request>(begun_on(worker));
      const auto pinned = number_of(request->policy());
      net::asio::post(worker.io,
                      [request, pinned] { EXPECT_EQ(number_of(request->policy()), pinned); });
    });
    threads.workers.follow(policy_of(number));
  }
  const auto last = threads.on_each([](Worker& worker) { return number_of(*worker.policy()); });
  EXPECT_EQ(last, (std::vector<unsigned>{199, 199}));
}

}  // namespace
}  // namespace proxy
