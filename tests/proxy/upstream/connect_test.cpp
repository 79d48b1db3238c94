#include "proxy/upstream/connect.hpp"

#include <gtest/gtest.h>

#include "proxy/upstream/failure.hpp"
#include "proxy/upstream/origin_traffic.hpp"
#include "tests/proxy/upstream/full_listener.hpp"
#include "tests/proxy/upstream/name_server.hpp"
#include "tests/support/loopback.hpp"
#include "tests/support/patience.hpp"

namespace proxy::upstream {
namespace {

using namespace std::chrono_literals;
using support::listen_on;
using support::run;
using Clock = std::chrono::steady_clock;

net::tcp::endpoint remote_endpoint(net::Stream& stream) {
  net::tcp::endpoint remote;
  auto size = static_cast<socklen_t>(remote.capacity());
  ::getpeername(stream.descriptor(), remote.data(), &size);
  remote.resize(size);
  return remote;
}

struct ConnectorTest : testing::Test, support::Loop {
  net::Result<std::unique_ptr<net::Stream>> connect(const std::string& host, std::uint16_t to,
                                                    NamedBy named_by,
                                                    std::chrono::milliseconds timeout = 5s) {
    const Endpoint endpoint{false, host, to, named_by};
    const auto began = Clock::now();
    auto stream = run(io, connector.connect(endpoint, timeout));
    took = Clock::now() - began;
    return stream;
  }

  support::NameServer names{io};
  net::Acceptor open = listen_on(io, "127.0.0.1");
  std::uint16_t port = open.local_endpoint().port();
  machine::Clock clock;
  Resolver resolver{io.get_executor(), clock, ResolverOptions{names.address(), 16}};
  Guard guard{config::AccessSettings{}, {}};
  TlsClient tls;
  Connector::Needs needs{deadlines, resolver, guard, tls, clock};
  Connector connector{needs};
  Clock::duration took{};
};

TEST_F(ConnectorTest, FallsBackToIpv4WhenIpv6Refuses) {
  names.records["both.test"] = {{"127.0.0.1", "::1"}};
  const auto stream = connect("both.test", port, NamedBy::configured);
  ASSERT_TRUE(stream) << stream.error().message();
  EXPECT_EQ(remote_endpoint(**stream), open.local_endpoint());
  EXPECT_FALSE((*stream)->is_tls());
}

TEST_F(ConnectorTest, HasDescriptorsFreedAndWaitsAWhileForThem) {
  const Endpoint endpoint{false, "127.0.0.1", port, NamedBy::configured};
  std::optional<net::Socket> taken(std::in_place, io, net::tcp::v4());
  const auto scarce_from = static_cast<std::size_t>(taken->native_handle()) + 1;
  constexpr int kNever = 1000;
  int asked = 0;
  int freed_at = kNever;
  const auto free_some = [&] {
    if (++asked == freed_at) taken.reset();
  };
  Connector short_of_them(needs, {scarce_from, free_some});
  EXPECT_EQ(run(io, short_of_them.connect(endpoint, 5s)).error(), Errc::no_descriptors);
  EXPECT_GT(asked, 1);
  EXPECT_LT(asked, 10) << "a client that waits takes a descriptor, too";
  asked = 0;
  EXPECT_FALSE(run(io, short_of_them.connect(endpoint, 3ms)));
  EXPECT_EQ(asked, 0) << "the time to connect would pass first";
  freed_at = 2;
  EXPECT_TRUE(run(io, short_of_them.connect(endpoint, 5s)));
  EXPECT_EQ(asked, 2);
}

TEST_F(ConnectorTest, PrefersIpv6) {
  const net::Acceptor six(io.get_executor(),
                          net::tcp::endpoint(boost::asio::ip::address_v6::loopback(), port));
  names.records["both.test"] = {{"127.0.0.1", "::1"}};
  const auto stream = connect("both.test", port, NamedBy::configured);
  ASSERT_TRUE(stream) << stream.error().message();
  EXPECT_TRUE(remote_endpoint(**stream) == six.local_endpoint());
}

TEST_F(ConnectorTest, RefusesClientsWhatTheNameReallyLeadsTo) {
  names.records["rebound.test"] = {{"127.0.0.1", "::1", "::ffff:127.0.0.1"}};
  for (const char* host : {"rebound.test", "127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0"}) {
    EXPECT_EQ(connect(host, port, NamedBy::client).error(), Errc::denied_address) << host;
  }
  open.non_blocking(true);
  boost::system::error_code error;
  const net::Socket nobody = open.accept(error);
  EXPECT_EQ(error, boost::asio::error::would_block);
}

TEST_F(ConnectorTest, PassesOverDeniedAddresses) {
  config::AccessSettings only_six_denied;
  only_six_denied.deny_to = config::parse_networks("::1").value();
  only_six_denied.deny_to_self = false;
  guard = Guard(only_six_denied, {});
  names.records["both.test"] = {{"127.0.0.1", "::1"}};
  EXPECT_TRUE(connect("both.test", port, NamedBy::client));
}

TEST_F(ConnectorTest, PassesOverBlockedAddresses) {
  lists::ListBuilder block;
  block.add(config::parse_networks("::1")->front());
  const lists::AccessLists lists(std::move(block).finish(), {});
  config::AccessSettings open_to_all;
  open_to_all.deny_to.clear();
  open_to_all.deny_to_self = false;
  guard = Guard(open_to_all, {}, &lists);
  names.records["both.test"] = {{"127.0.0.1", "::1"}};
  names.records["six.test"] = {{"::1"}};
  EXPECT_TRUE(connect("both.test", port, NamedBy::client));
  EXPECT_EQ(connect("six.test", port, NamedBy::client).error(), Errc::blocked_address);
  EXPECT_EQ(connect("six.test", port, NamedBy::allowed).error(), Errc::connect_refused);
}

TEST_F(ConnectorTest, RefusesToConnectToItself) {
  guard = Guard(config::AccessSettings{}, {open.local_endpoint()});
  EXPECT_EQ(connect("127.0.0.1", port, NamedBy::configured).error(), Errc::denied_address);
}

TEST_F(ConnectorTest, PassesOnWhatTheResolverSays) {
  EXPECT_EQ(connect("unknown.test.", port, NamedBy::client).error(), Errc::name_not_found);
}

TEST_F(ConnectorTest, EndsInTimeWhereTheNameServerIsSilent) {
  names.silent = true;
  EXPECT_EQ(connect("slow.test", port, NamedBy::client, 60ms).error(), Errc::resolver_timed_out);
  EXPECT_LT(took, support::allowed(4s));
}

TEST_F(ConnectorTest, ShowsWhetherTheNameOrTheConnectionIsAwaited) {
  OriginTraffic traffic(clock);
  UnderWay shown(traffic.add_thread(), "GET / HTTP/1.1\r\n");
  names.silent = true;
  const Endpoint nameless{false, "slow.test", port, NamedBy::client};
  EXPECT_FALSE(run(io, connector.connect(nameless, 60ms, &shown)));
  EXPECT_EQ(shown.awaited(), Awaited::name);
  const support::FullListener silent(io);
  const Endpoint hanging{false, "127.0.0.1", silent.endpoint().port(), NamedBy::configured};
  EXPECT_FALSE(run(io, connector.connect(hanging, 60ms, &shown)));
  EXPECT_EQ(shown.awaited(), Awaited::connection);
}

TEST_F(ConnectorTest, EndsInTimeWhereTheHostIsSilent) {
  const support::FullListener silent(io);
  EXPECT_EQ(connect("127.0.0.1", silent.endpoint().port(), NamedBy::configured, 60ms).error(),
            Errc::connect_timed_out);
  EXPECT_LT(took, support::allowed(4s));
}

TEST_F(ConnectorTest, EndsInTimeWhereTlsIsSilent) {
  const Endpoint endpoint{true, "127.0.0.1", port, NamedBy::configured};
  EXPECT_EQ(run(io, connector.connect(endpoint, 60ms)).error(), Errc::connect_timed_out);
}

}  // namespace
}  // namespace proxy::upstream
