#include "proxy/upstream/resolve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "proxy/upstream/failure.hpp"
#include "tests/proxy/upstream/name_server.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/run.hpp"

namespace proxy::upstream {
namespace {

using namespace std::chrono_literals;
using support::run;
using Answer = net::Result<Addresses>;

Addresses addresses_of(std::initializer_list<const char*> texts) {
  Addresses addresses;
  for (const char* text : texts) addresses.push_back(boost::asio::ip::make_address(text));
  return addresses;
}

struct ResolverTest : testing::Test {
  Answer ask(const std::string& host, std::chrono::milliseconds timeout = 5s) {
    return run(io, resolver->resolve(host, timeout));
  }
  // Starts a query and returns without waiting for it.
  void begin(const std::string& host) {
    net::spawn(io.get_executor(), resolver->resolve(host),
               [this](std::exception_ptr, Answer answer) {
                 answers.push_back(answer.error());
                 if (answer) found.push_back(answer->front());
               });
  }

  machine::Clock clock;
  boost::asio::io_context io{1};
  support::NameServer server{io};
  std::optional<Resolver> resolver{std::in_place, io.get_executor(), clock,
                                   ResolverOptions{server.address(), 4096}};
  std::vector<net::error_code> answers;
  Addresses found;
};

TEST_F(ResolverTest, FindsAddressesOfBothFamilies) {
  server.records["both.test"] = {{"192.0.2.1", "2001:db8::1", "192.0.2.2"}};
  auto answer = ask("Both.TEST");
  ASSERT_TRUE(answer) << answer.error().message();
  std::sort(answer->begin(), answer->end());
  EXPECT_EQ(*answer, addresses_of({"192.0.2.1", "192.0.2.2", "2001:db8::1"}));
}

TEST_F(ResolverTest, AsksNobodyAboutAddresses) {
  EXPECT_EQ(ask("192.0.2.7").value(), addresses_of({"192.0.2.7"}));
  EXPECT_EQ(ask("2001:db8::7").value(), addresses_of({"2001:db8::7"}));
  EXPECT_EQ(ask("::ffff:192.0.2.7").value(), addresses_of({"192.0.2.7"}));
  EXPECT_EQ(server.asked, 0);
}

TEST_F(ResolverTest, AsksNobodyAboutWhatCannotBeAName) {
  const std::string names[] = {"",     "a b",     "[::1]",         "fe80::1%lo",
                               "a\\b", "caf\xe9", {"a\0.test", 7}, std::string(255, 'a')};
  for (const auto& name : names) {
    EXPECT_EQ(ask(name).error(), Errc::name_not_found) << testing::PrintToString(name);
  }
  EXPECT_EQ(server.asked, 0);
}

TEST_F(ResolverTest, HeedsTheHostsFile) {
  const auto answer = ask("localhost");
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->front().is_loopback());
  EXPECT_EQ(server.asked, 0);
}

TEST_F(ResolverTest, TellsTheKindsOfFailureApart) {
  server.records["empty.test"] = {};
  EXPECT_EQ(ask("unknown.test.").error(), Errc::name_not_found);
  EXPECT_EQ(ask("empty.test.").error(), Errc::no_address);
  server.refuses = true;
  EXPECT_EQ(ask("refused.test").error(), Errc::resolver_failed);
}

TEST_F(ResolverTest, KeepsAnswersForTheirTtl) {
  server.records["kept.test"] = {{"192.0.2.1"}, 300};
  EXPECT_TRUE(ask("kept.test"));
  EXPECT_TRUE(ask("KEPT.test"));
  EXPECT_EQ(server.asked, 1);
}

TEST_F(ResolverTest, KeepsFailuresForAMoment) {
  EXPECT_FALSE(ask("unknown.test."));
  EXPECT_FALSE(ask("unknown.test."));
  EXPECT_EQ(server.asked, 1);
}

TEST_F(ResolverTest, AsksOnceForAllWhoAskAtOnce) {
  server.records["busy.test"] = {{"192.0.2.1"}};
  for (int i = 0; i < 5; ++i) begin("busy.test");
  EXPECT_TRUE(ask("busy.test"));
  io.restart();
  io.poll();
  EXPECT_EQ(found, Addresses(5, boost::asio::ip::make_address("192.0.2.1")));
  EXPECT_EQ(server.asked, 1);
}

TEST_F(ResolverTest, GivesUpInTimeAndUsesTheLateAnswer) {
  server.records["late.test"] = {{"192.0.2.1"}};
  server.silent = true;
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(ask("late.test", 50ms).error(), Errc::resolver_timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - began,
            support::allowed(900ms));  // c-ares would ask again after 1 s
  server.silent = false;
  EXPECT_EQ(ask("late.test").value(), addresses_of({"192.0.2.1"}));
  EXPECT_EQ(server.asked, 2);
}

TEST_F(ResolverTest, LetsGoOfThoseWhoWaitWhenDestroyed) {
  server.silent = true;
  begin("a.test");
  begin("a.test");
  begin("b.test");
  io.run_for(20ms);
  EXPECT_TRUE(answers.empty());
  resolver.reset();
  io.restart();
  io.run_for(20ms);
  EXPECT_EQ(answers, std::vector<net::error_code>(3, Errc::resolver_failed));
}

struct ResolverHealthTest : ResolverTest {
  ResolverHealthTest() {
    resolver.emplace(io.get_executor(), clock, ResolverOptions{server.address(), 4096, &health});
  }
  // What is said of the name servers after that time, while nobody asks.
  std::string said_after(std::chrono::milliseconds time) {
    io.restart();
    io.run_for(time);
    const auto trouble = health.trouble(NameHealth::Clock::now());
    return trouble ? trouble->text : "";
  }
  static constexpr auto kSoon = NameHealth::kSilence + 100ms;

  NameHealth health;
};

TEST_F(ResolverHealthTest, SilenceIsSeenThoughOneNameIsAskedForOnceAndEndsWithAProbe) {
  server.silent = true;
  EXPECT_FALSE(ask("a.test", 10ms));
  EXPECT_EQ(said_after(kSoon), "name resolution: 127.0.0.1 does not answer");
  server.silent = false;
  EXPECT_EQ(said_after(Resolver::kProbePause + 100ms), "") << "nobody has asked for a name since";
}

TEST_F(ResolverHealthTest, RefusalsAreSeenThoughCAresTellsThemFromNoOtherFailure) {
  server.refuses = true;
  EXPECT_EQ(ask("a.test").error(), Errc::resolver_failed);
  EXPECT_EQ(said_after(kSoon), "name resolution: 127.0.0.1 answers, but resolves no names");
  server.refuses = false;
  EXPECT_EQ(ask("unknown.test.").error(), Errc::name_not_found);
  EXPECT_EQ(said_after(0ms), "") << "that a name does not exist is an answer";
}

TEST_F(ResolverHealthTest, ANameWhoseOwnServersAreSilentIsNoFaultOfOurs) {
  server.ignored = "dead.test";
  EXPECT_FALSE(ask("dead.test", 10ms));
  EXPECT_EQ(said_after(kSoon), "");
}

TEST_F(ResolverHealthTest, TheHostsFileTellsNothing) {
  EXPECT_TRUE(ask("localhost"));
  EXPECT_FALSE(health.is_in_doubt());
}

TEST(Resolver, RefusesToStartWithServersThatAreNone) {
  boost::asio::io_context io;
  machine::Clock clock;
  const ResolverOptions options{"nonsense", 1};
  EXPECT_THROW(Resolver(io.get_executor(), clock, options), boost::system::system_error);
}

}  // namespace
}  // namespace proxy::upstream
