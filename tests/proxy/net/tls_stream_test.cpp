#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <boost/asio/detached.hpp>
#include <boost/asio/ssl/error.hpp>

#include <string>

#include "proxy/net/stream.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/loopback.hpp"

namespace proxy::net {
namespace {

using namespace std::chrono_literals;
using support::run;
namespace ssl = asio::ssl;

Task<error_code> shake(Stream::Tls& tls, ssl::stream_base::handshake_type side) {
  const auto [error] = co_await tls.async_handshake(side, as_result);
  co_return error;
}

struct TlsEnds : support::Loop {
  TlsEnds() {
    auto [near_socket, far_socket] = support::connected_pair(io);
    auto client = std::make_unique<Stream::Tls>(std::move(near_socket), client_context);
    auto server = std::make_unique<Stream::Tls>(std::move(far_socket), server_context);
    SSL_set_num_tickets(server->native_handle(), 0);
    asio::co_spawn(io, shake(*server, ssl::stream_base::server), asio::detached);
    EXPECT_FALSE(run(io, shake(*client, ssl::stream_base::client)));
    near = std::make_unique<Stream>(std::move(client), deadlines);
    far = std::make_unique<Stream>(std::move(server), deadlines);
    io.restart();
    io.poll();  // the server's last step
  }

  ssl::context client_context{ssl::context::tls_client};
  ssl::context server_context = support::Authority().server("DNS:far.test");
  std::unique_ptr<Stream> near;
  std::unique_ptr<Stream> far;
};

TEST(TlsStream, CarriesALargeGatherWhole) {
  TlsEnds ends;
  const std::string large(300'000, 'x');
  const std::array parts{asio::buffer(large), asio::buffer("end", 3)};
  asio::co_spawn(ends.io, ends.near->write(parts), asio::detached);
  std::string got;
  std::string chunk(65536, '\0');
  while (got.size() < large.size() + 3) {
    const auto n = run(ends.io, ends.far->read_some(asio::buffer(chunk)));
    ASSERT_TRUE(n) << n.error().message();
    got.append(chunk, 0, *n);
  }
  EXPECT_TRUE(got == large + "end");
}

TEST(TlsStream, IsReadableAndNotQuietWhileADecryptedByteIsLeft) {
  TlsEnds ends;
  EXPECT_TRUE(ends.near->quiet());
  EXPECT_FALSE(run(ends.io, ends.far->write(asio::buffer("ab", 2))));
  char byte = 0;
  ASSERT_EQ(run(ends.io, ends.near->read_some(asio::buffer(&byte, 1))).value(), 1U);

  EXPECT_FALSE(ends.near->quiet());
  ends.near->expires_after(5s);
  EXPECT_FALSE(run(ends.io, ends.near->readable()));
  ASSERT_EQ(run(ends.io, ends.near->read_some(asio::buffer(&byte, 1))).value(), 1U);
  EXPECT_EQ(byte, 'b');
  EXPECT_TRUE(ends.near->quiet());
}

TEST(TlsStream, TakesACutForAnErrorAndNotForTheEnd) {
  TlsEnds ends;
  ends.far.reset();
  char byte = 0;
  EXPECT_EQ(run(ends.io, ends.near->read_some(asio::buffer(&byte, 1))).error(),
            ssl::error::stream_truncated);
}

TEST(TlsStream, DeadlineEndsARead) {
  TlsEnds ends;
  char byte = 0;
  ends.near->expires_after(20ms);
  EXPECT_EQ(run(ends.io, ends.near->read_some(asio::buffer(&byte, 1))).error(),
            asio::error::timed_out);
  EXPECT_EQ(run(ends.io, ends.near->readable()), asio::error::timed_out);
}

}  // namespace
}  // namespace proxy::net
