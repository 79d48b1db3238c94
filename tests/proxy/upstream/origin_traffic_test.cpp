#include "proxy/upstream/origin_traffic.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace proxy::upstream {
namespace {

using namespace std::chrono_literals;
using What = Failure::What;
using Time = FirstBytes::Time;

const OriginTraffic::Clock::time_point kToday{100h};

Endpoint at_host(std::string host, NamedBy named_by = NamedBy::client) {
  return {false, std::move(host), 80, named_by};
}

TEST(FirstBytes, QuantilesAreWithinAQuarterOfTheTime) {
  for (const Time took : {1ms, 7ms, 40ms, 900ms, 6000ms, 60'000ms}) {
    FirstBytes times;
    EXPECT_FALSE(times.quantile(0.5));
    for (int n = 0; n < 10; ++n) times.add(took);
    for (const double share : {0.01, 0.5, 0.99}) {
      const auto told = static_cast<double>(times.quantile(share)->count());
      EXPECT_NEAR(told / static_cast<double>(took.count()), 1, 0.25) << took.count();
    }
  }
}

TEST(FirstBytes, TellTheFewSlowOnesFromTheMany) {
  FirstBytes times;
  for (int n = 0; n < 97; ++n) times.add(10ms);
  for (int n = 0; n < 3; ++n) times.add(6s);
  EXPECT_LT(*times.quantile(0.5), 13ms);
  EXPECT_GT(*times.quantile(0.99), 4s);
  times.add(-1s);
  times.add(Time::max());
  EXPECT_EQ(times.quantile(0)->count(), 0);
}

class Traffic : public testing::Test {
 protected:
  // A request from its beginning to its end.
  void fetch(const Endpoint& origin, std::chrono::milliseconds took, unsigned status,
             OriginTraffic::Clock::time_point now = kToday) {
    UnderWay one(thread_, "GET / HTTP/1.1\r\n");
    one.turn_to(origin, origin, nullptr, now);
    one.answered(status, now + took);
    one.received(1000);
  }
  [[nodiscard]] OriginSums sums(const std::string& host,
                                OriginTraffic::Clock::time_point now = kToday) const {
    for (const auto& origin : traffic_.origins(now)) {
      if (origin.name == "http://" + host + ":80") return origin.sums;
    }
    return {};
  }

  machine::Clock clock_{machine::Clock::Time(24h)};
  OriginTraffic traffic_{clock_};
  TrafficOfThread& thread_ = traffic_.add_thread();
  TrafficOfThread& other_ = traffic_.add_thread();
};

TEST_F(Traffic, CountsWhatOriginsDoOverAllThreads) {
  fetch(at_host("a.test"), 100ms, 200);
  fetch(at_host("a.test"), 100ms, 503);
  {
    const auto a = at_host("a.test");
    UnderWay one(other_, "GET / HTTP/1.1\r\n");
    one.turn_to(a, a, nullptr, kToday);
    one.turn_to(a, a, nullptr, kToday);  // a pooled connection was dead
    one.failed(What::timed_out, kToday);
  }
  const auto told = sums("a.test");
  EXPECT_EQ(told.requests, 3U);
  EXPECT_EQ(told.errors, 1U);
  EXPECT_EQ(told.failures[static_cast<std::size_t>(What::timed_out)], 1U);
  EXPECT_EQ(told.failed(), 2U);
  EXPECT_EQ(told.bytes, 2000U);
  EXPECT_GT(*told.first_bytes.quantile(0.5), 75ms);
}

TEST_F(Traffic, ForgetsAnHour) {
  fetch(at_host("a.test"), 1ms, 200, kToday);
  EXPECT_EQ(sums("a.test", kToday + 59min).requests, 1U);
  fetch(at_host("a.test"), 1ms, 200, kToday + 30min);
  EXPECT_EQ(sums("a.test", kToday + 61min).requests, 1U);
  EXPECT_TRUE(traffic_.origins(kToday + 3h).empty());
}

TEST_F(Traffic, KeepsTheOriginsThatAreAskedMost) {
  for (int n = 0; n < 3; ++n) fetch(at_host("a.test"), 1ms, 200);
  for (std::size_t n = 0; n < 3 * TrafficOfThread::kMost; ++n) {
    fetch(at_host(std::to_string(n)), 1ms, 200, kToday + n * 1ms);
  }
  const auto all = traffic_.origins(kToday);
  EXPECT_EQ(all.size(), TrafficOfThread::kMost);
  EXPECT_EQ(all[0].name, "http://a.test:80") << "those with most requests first";
}

TEST_F(Traffic, TellsWhatRequestsWaitForAndSinceWhen) {
  const auto a = at_host("a.test");
  const auto b = at_host("b.test");
  const Parent parent{"up", at_host("10.0.0.9"), ""};
  UnderWay late(thread_, "GET /late?x=1 HTTP/1.1\r\nHost: a.test\r\n");
  late.turn_to(a, a, nullptr, kToday);
  late.await(Awaited::connection);
  UnderWay early(other_, "POST /early HTTP/1.1\r\n");
  early.turn_to(b, parent.at, &parent, kToday - 40s);
  early.await(Awaited::first_byte);
  UnderWay reading(other_, "GET /reading HTTP/1.1\r\n");
  reading.turn_to(a, a, nullptr, kToday - 60s);
  reading.answered(200, kToday);
  const auto waits = traffic_.waits(10);
  ASSERT_EQ(waits.longest.size(), 2U) << "a client that reads slowly is no wait";
  EXPECT_EQ(waits.longest[0].url, "http://b.test/early");
  EXPECT_EQ(waits.longest[0].method, "POST");
  EXPECT_EQ(waits.longest[0].server, "up");
  EXPECT_EQ(waits.longest[0].of, OriginTraffic::Wait::Of::parent);
  EXPECT_EQ(waits.longest[0].what, Awaited::first_byte);
  EXPECT_EQ(waits.longest[0].since, kToday - 40s);
  EXPECT_EQ(waits.longest[1].url, "http://a.test/late?x=1");
  EXPECT_EQ(waits.longest[1].what, Awaited::connection);
  EXPECT_EQ(traffic_.waits(1).number, 2U);
  EXPECT_EQ(traffic_.waits(1).longest.size(), 1U);
  late.end();
  early.end();
  EXPECT_EQ(traffic_.waits(10).number, 0U);
}

TEST_F(Traffic, CountsAllThatWaitForAnOrigin) {
  const auto a = at_host("a.test");
  const Parent parent{"up", at_host("10.0.0.9"), ""};
  std::vector<std::unique_ptr<UnderWay>> all;
  for (int n = 0; n < 300; ++n) {
    auto& one = *all.emplace_back(std::make_unique<UnderWay>(thread_, "GET / HTTP/1.1\r\n"));
    one.turn_to(a, n == 0 ? parent.at : a, n == 0 ? &parent : nullptr, kToday);
    one.await(n == 1 ? Awaited::name : n == 2 ? Awaited::nothing : Awaited::first_byte);
  }
  ASSERT_EQ(traffic_.origins(kToday).size(), 1U);
  EXPECT_EQ(traffic_.origins(kToday)[0].waiting, 298U) << "neither for the parent nor for nothing";
}

TEST_F(Traffic, WhoWaitsForTheNameServersWaitsForNoOrigin) {
  const auto a = at_host("a.test");
  UnderWay one(thread_, "GET / HTTP/1.1\r\n");
  one.turn_to(a, a, nullptr, kToday - 20s);
  one.await(Awaited::name);
  EXPECT_TRUE(traffic_.silences(kToday).empty());
  EXPECT_EQ(traffic_.waits(1).longest[0].what, Awaited::name);
  one.await(Awaited::connection);
  EXPECT_EQ(traffic_.silences(kToday).size(), 1U);
}

TEST_F(Traffic, AFailureCountsByItsCauseAndOursNotAtAll) {
  const auto a = at_host("a.test");
  const auto then = clock_.steady() - 10s;
  for (const auto why : {What::dns, What::overload, What::denied}) {
    UnderWay one(thread_, "GET / HTTP/1.1\r\n");
    one.turn_to(a, a, nullptr, then);
    one.await(Awaited::name);
    one.failed(why, then + 5s);
  }
  for (const auto what : {Awaited::name, Awaited::first_byte}) {
    UnderWay one(thread_, "GET / HTTP/1.1\r\n");
    one.turn_to(a, a, nullptr, then);
    one.await(what);
  }
  const auto told = sums("a.test", clock_.steady());
  EXPECT_EQ(told.requests, 5U);
  EXPECT_EQ(told.failures[static_cast<std::size_t>(What::dns)], 2U) << "one was given up";
  EXPECT_EQ(told.failures[static_cast<std::size_t>(What::abandoned)], 1U);
  EXPECT_EQ(told.failed(), 3U);
}

TEST_F(Traffic, AnOriginIsSilentSinceItsLastAnswer) {
  const auto a = at_host("a.test", NamedBy::configured);
  UnderWay one(thread_, "GET / HTTP/1.1\r\n");
  one.turn_to(a, a, nullptr, kToday - 20s);
  one.await(Awaited::first_byte);
  UnderWay other(other_, "GET / HTTP/1.1\r\n");
  other.turn_to(a, a, nullptr, kToday - 1s);
  other.await(Awaited::first_byte);
  auto silences = traffic_.silences(kToday);
  ASSERT_EQ(silences.size(), 1U);
  EXPECT_EQ(silences[0].origin, "http://a.test:80");
  EXPECT_TRUE(silences[0].mapped);
  EXPECT_EQ(silences[0].requests, 1U) << "one second is no long wait";
  EXPECT_EQ(silences[0].silent, kToday - 20s);
  other.answered(200, kToday - 500ms);
  silences = traffic_.silences(kToday);
  ASSERT_EQ(silences.size(), 1U);
  EXPECT_EQ(silences[0].silent, kToday - 500ms);
  one.answered(200, kToday);
  EXPECT_TRUE(traffic_.silences(kToday).empty());
}

TEST_F(Traffic, ARequestThatIsGivenUpAfterAWhileIsAFailure) {
  const auto a = at_host("a.test");
  for (const auto ago : {0s, 10s}) {
    UnderWay one(thread_, "GET / HTTP/1.1\r\n");
    one.turn_to(a, a, nullptr, clock_.steady() - ago);
    one.await(Awaited::first_byte);
  }
  const auto told = sums("a.test", clock_.steady());
  EXPECT_EQ(told.requests, 2U);
  EXPECT_EQ(told.failures[static_cast<std::size_t>(What::abandoned)], 1U);
}

}  // namespace
}  // namespace proxy::upstream
