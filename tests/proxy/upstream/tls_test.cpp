#include "proxy/upstream/tls.hpp"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <list>
#include <string>

#include "proxy/upstream/failure.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/loopback.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy::upstream {
namespace {

using namespace std::chrono_literals;
using support::run;
namespace ssl = boost::asio::ssl;
using Shaken = net::Result<std::unique_ptr<net::Stream>>;

// Reports the server name that the client asks for, and stays until the client leaves.
net::Task<void> serve(net::Socket socket, ssl::context& context, net::Deadlines& deadlines) {
  net::TlsSession session(SSL_new(context.native_handle()));
  SSL_set_accept_state(session.get());
  net::Opening opening(socket, deadlines, 10s);
  const auto error = co_await opening.shake_hands(session.get());
  if (error) co_return;
  const char* name = SSL_get_servername(session.get(), TLSEXT_NAMETYPE_host_name);
  const std::string text = name ? name : "none";
  net::Stream stream(std::move(socket), deadlines, std::move(session));
  co_await stream.write(boost::asio::buffer(text));
  char byte = 0;
  co_await stream.read_some(boost::asio::buffer(&byte, 1));
}

struct TlsClientTest : testing::Test, support::Loop {
  TlsClientTest() { support::write_file(directory / "ca.pem", authority.pem()); }

  Shaken shake(ssl::context server, const std::string& host) {
    TlsClient client((directory / "ca.pem").string());
    return shake(client, std::move(server), host);
  }
  Shaken shake(TlsClient& client, ssl::context server, const std::string& host) {
    contexts.push_back(std::move(server));
    auto [near, far] = support::connected_pair(io);
    net::spawn(io.get_executor(), serve(std::move(far), contexts.back(), deadlines));
    return run(io, client.handshake(std::move(near), host, deadlines, 10s));
  }
  std::string greeting(net::Stream& stream) {
    std::string text(64, '\0');
    text.resize(run(io, stream.read_some(boost::asio::buffer(text))).value());
    return text;
  }

  support::TemporaryDirectory directory;
  support::Authority authority;
  std::list<ssl::context> contexts;
};

TEST_F(TlsClientTest, AcceptsACertificateForTheNameAndSendsTheName) {
  auto stream = shake(authority.server("DNS:origin.test"), "origin.test");
  ASSERT_TRUE(stream) << stream.error().message();
  EXPECT_TRUE((*stream)->is_tls());
  EXPECT_EQ(greeting(**stream), "origin.test");
}

TEST_F(TlsClientTest, SendsNoLastDot) {  // RFC 6066 section 3
  auto stream = shake(authority.server("DNS:origin.test"), "origin.test.");
  ASSERT_TRUE(stream) << stream.error().message();
  EXPECT_EQ(greeting(**stream), "origin.test");
}

TEST_F(TlsClientTest, AcceptsACertificateForTheAddressAndSendsNoName) {
  auto stream = shake(authority.server("IP:127.0.0.1"), "127.0.0.1");
  ASSERT_TRUE(stream) << stream.error().message();
  EXPECT_EQ(greeting(**stream), "none");
}

TEST_F(TlsClientTest, RefusesAnotherNameOrAddress) {
  for (const char* host : {"other.test", "sub.origin.test", "127.0.0.2", "::1"}) {
    const auto stream = shake(authority.server("DNS:origin.test,IP:127.0.0.1"), host);
    EXPECT_EQ(stream.error(), Errc::tls_wrong_name) << host;
  }
}

TEST_F(TlsClientTest, RefusesAnUnknownAuthority) {
  const support::Authority stranger;
  EXPECT_EQ(shake(stranger.server("DNS:origin.test"), "origin.test").error(), Errc::tls_unverified);
  TlsClient trusts_the_system_alone;
  EXPECT_EQ(
      shake(trusts_the_system_alone, authority.server("DNS:origin.test"), "origin.test").error(),
      Errc::tls_unverified);
}

TEST_F(TlsClientTest, TrustsWhatTheFileHasOnceItIsReadAgain) {
  const support::Authority added;
  TlsClient client((directory / "ca.pem").string());
  EXPECT_EQ(shake(client, added.server("DNS:origin.test"), "origin.test").error(),
            Errc::tls_unverified);
  support::write_file(directory / "ca.pem", added.pem());
  client.reload();
  EXPECT_TRUE(shake(client, added.server("DNS:origin.test"), "origin.test"));
  support::write_file(directory / "ca.pem", "no certificate");
  EXPECT_THROW(client.reload(), boost::system::system_error);
  EXPECT_TRUE(shake(client, added.server("DNS:origin.test"), "origin.test"));
}

// The setting mirrors.ca.
TEST_F(TlsClientTest, TrustsAnAuthorityForItsHostsAlone) {
  const auto file = (directory / "ca.pem").string();
  const std::vector<config::HostCertificates> files{{"origin.test", file}, {"*.cdn.test", file}};
  TlsClient client;
  client.follow(std::make_shared<HostTrust>(files));
  for (const std::string host : {"origin.test", "a.cdn.test"}) {
    EXPECT_TRUE(shake(client, authority.server("DNS:" + host), host)) << host;
  }
  for (const std::string host : {"other.test", "a.origin.test", "cdn.test", "a.b.cdn.test"}) {
    EXPECT_FALSE(shake(client, authority.server("DNS:" + host), host)) << host;
  }
  EXPECT_FALSE(shake(client, authority.server("DNS:other.test"), "origin.test"));
  client.follow(nullptr);
  EXPECT_FALSE(shake(client, authority.server("DNS:origin.test"), "origin.test"));
}

TEST(HostTrust, SaysWhichFileCannotBeRead) {
  const std::vector<config::HostCertificates> files{{"a.test", "/nonexistent/ca.pem"}};
  try {
    const HostTrust trust(files);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("mirrors.ca[\"a.test\"]: /nonexistent/ca.pem"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(TlsClientTest, RefusesAnExpiredCertificate) {
  EXPECT_EQ(shake(authority.server("DNS:origin.test", 60), "origin.test").error(),
            Errc::tls_expired);
}

TEST_F(TlsClientTest, RefusesTls11) {
  auto server = authority.server("DNS:origin.test");
  SSL_CTX_set_security_level(server.native_handle(), 0);
  SSL_CTX_set_min_proto_version(server.native_handle(), TLS1_VERSION);
  SSL_CTX_set_max_proto_version(server.native_handle(), TLS1_1_VERSION);
  EXPECT_EQ(shake(std::move(server), "origin.test").error(), Errc::tls_failed);
}

TEST_F(TlsClientTest, EndsInTimeWhereNobodyAnswers) {
  TlsClient client;
  auto [near, far] = support::connected_pair(io);
  const auto stream = run(io, client.handshake(std::move(near), "origin.test", deadlines, 50ms));
  EXPECT_EQ(stream.error(), Errc::connect_timed_out);
}

TEST_F(TlsClientTest, LeavesNoDeadlineBehind) {
  auto stream = shake(authority.server("DNS:origin.test"), "origin.test");
  ASSERT_TRUE(stream);
  io.restart();
  io.run_for(50ms);
  EXPECT_FALSE((*stream)->is_linked());
}

TEST(TlsClient, RefusesToStartWithoutTheFileItWasTold) {
  EXPECT_THROW(TlsClient("/nonexistent/ca.pem"), boost::system::system_error);
}

}  // namespace
}  // namespace proxy::upstream
