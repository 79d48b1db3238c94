#include "proxy/server/worker.hpp"

#include <gtest/gtest.h>

#include <array>

#include "proxy/policy/request.hpp"
#include "tests/proxy/server/threads.hpp"

namespace proxy::server {
namespace {

using std::chrono::milliseconds;

unsigned number_of(const policy::Policy& policy) {
  EXPECT_EQ(policy.settings.limits.connections,
            static_cast<std::size_t>(policy.settings.timeouts.drain.count()));
  return static_cast<unsigned>(policy.settings.limits.connections);
}

std::unique_ptr<policy::Request> begun_on(Worker& worker) {
  constexpr std::string_view kText = "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n";
  auto request = policy::parse_request(kText, {}).value();
  request->pin(worker.policy());
  return request;
}

TEST(WorkerThreads, ARequestKeepsThePolicyThatItBeganWith) {
  Threads threads;
  threads.workers.start();
  std::array<std::unique_ptr<policy::Request>, kThreads> before;
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
  threads.workers.follow(std::make_shared<const policy::Policy>(settings, lists::AccessLists{}));
  const auto fields = threads.on_each([](Worker& worker) {
    const auto denied = net::asio::ip::make_address("203.0.113.1");
    EXPECT_FALSE(worker.outgoing.guard.allows(denied, 80, upstream::NamedBy::client));
    return static_cast<unsigned>(worker.outgoing.upstream.limits.fields);
  });
  EXPECT_EQ(fields, (std::vector<unsigned>{7, 7}));
}

TEST(WorkerThreads, RequestsBeginAndEndWhilePoliciesComeAndGo) {
  Threads threads;
  threads.workers.start();
  for (unsigned number = 2; number < 200; ++number) {
    threads.workers.on_each([](Worker& worker) {
      auto request = std::shared_ptr<policy::Request>(begun_on(worker));
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
}  // namespace proxy::server
