#include "proxy/server/listener.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace proxy::server {
namespace {

using config::HostPort;

TEST(Listeners, OpensEachAddressOncePerThread) {
  const std::vector<HostPort> wanted{{"127.0.0.1", 0}, {"127.0.0.1", 0}};
  Listeners listeners(wanted, 2);
  ASSERT_EQ(listeners.addresses().size(), 2U);
  EXPECT_NE(listeners.addresses()[0].port(), 0);
  EXPECT_NE(listeners.addresses()[0], listeners.addresses()[1]);
  net::asio::io_context io(1);
  for (const std::size_t thread : {0U, 1U}) {
    auto acceptors = listeners.acceptors(thread, io.get_executor());
    ASSERT_EQ(acceptors.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(acceptors[i].local_endpoint(), listeners.addresses()[i]);
    }
  }
}

TEST(Listeners, TakesConnectionsBeforeAnybodyAccepts) {
  const std::vector<HostPort> wanted{{"127.0.0.1", 0}};
  Listeners listeners(wanted, 1);
  net::asio::io_context io(1);
  net::Socket client(io.get_executor());
  client.connect(listeners.addresses()[0]);
  auto acceptors = listeners.acceptors(0, io.get_executor());
  EXPECT_TRUE(acceptors[0].accept().is_open());
}

std::string why_not(const std::vector<HostPort>& wanted) {
  try {
    Listeners listeners(wanted, 1);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

// The other socket has SO_REUSEPORT, too, so the kernel by itself would give the port to both.
TEST(Listeners, APortInUseIsAnErrorThatNamesIt) {
  const std::vector<HostPort> any{{"127.0.0.1", 0}};
  const Listeners other(any, 2);
  const auto port = other.addresses()[0].port();
  const auto text = why_not({{"127.0.0.1", port}});
  EXPECT_NE(text.find("127.0.0.1:" + std::to_string(port)), std::string::npos) << text;
  EXPECT_NE(text.find("another program has this port"), std::string::npos) << text;
}

TEST(Listeners, AnAddressThatIsNotOursIsAnErrorThatNamesIt) {
  const auto text = why_not({{"192.0.2.1", 3128}});  // RFC 5737: nobody's
  EXPECT_NE(text.find("192.0.2.1:3128"), std::string::npos) << text;
}

}  // namespace
}  // namespace proxy::server
