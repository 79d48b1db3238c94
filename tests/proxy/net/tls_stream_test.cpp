#include <gtest/gtest.h>

#include <boost/asio/ssl/error.hpp>
#include <string>

#include "tests/proxy/net/tls_ends.hpp"

namespace proxy::net {
namespace {

using namespace std::chrono_literals;
using support::run;

TEST(TlsStream, CarriesALargeGatherWhole) {
  TlsEnds ends;
  const std::string large(300'000, 'x');
  const std::array parts{asio::buffer(large), asio::buffer("end", 3)};
  net::spawn(ends.io.get_executor(), support::task_of(ends.near->write(parts)));
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
  EXPECT_TRUE(run(ends.io, ends.near->readable()));
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
  EXPECT_FALSE(run(ends.io, ends.near->readable()));
}

}  // namespace
}  // namespace proxy::net
