#include "proxy/upstream/failure.hpp"

#include <gtest/gtest.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/http/error.hpp>

namespace proxy::upstream {
namespace {

using Where = Failure::Where;
using What = Failure::What;
using upstream::Errc;
namespace error = boost::asio::error;

struct FailureCase {
  const char* name;
  boost::system::error_code cause;
  What what;
  unsigned upstream_status;
};
class FailureOf : public testing::TestWithParam<FailureCase> {};

TEST_P(FailureOf, DecidesWhatTheClientIsTold) {
  const auto failure = failure_of(Where::upstream, GetParam().cause);
  EXPECT_EQ(failure.what, GetParam().what);
  EXPECT_EQ(status_for(failure), GetParam().upstream_status);
}

INSTANTIATE_TEST_SUITE_P(
    Causes, FailureOf,
    testing::Values(
        FailureCase{"Denied", Errc::denied_address, What::denied, 403},
        FailureCase{"NeedsCredentials", Errc::needs_credentials, What::denied, 404},
        FailureCase{"NoToken", Errc::no_token, What::unreachable, 502},
        FailureCase{"NoSuchName", Errc::name_not_found, What::no_address, 502},
        FailureCase{"NoAddress", Errc::no_address, What::no_address, 502},
        FailureCase{"Resolver", Errc::resolver_failed, What::dns, 502},
        FailureCase{"ResolverTooSlow", Errc::resolver_timed_out, What::dns, 504},
        FailureCase{"ConnectTooSlow", Errc::connect_timed_out, What::timed_out, 504},
        FailureCase{"Refused", error::connection_refused, What::unreachable, 502},
        FailureCase{"NoRoute", error::host_unreachable, What::unreachable, 502},
        FailureCase{"TlsFailed", Errc::tls_failed, What::untrusted, 502},
        FailureCase{"TlsUnverified", Errc::tls_unverified, What::untrusted, 502},
        FailureCase{"TlsWrongName", Errc::tls_wrong_name, What::untrusted, 502},
        FailureCase{"TlsExpired", Errc::tls_expired, What::untrusted, 502},
        FailureCase{"TooSlow", error::timed_out, What::timed_out, 504},
        FailureCase{"End", error::eof, What::cut, 502},
        FailureCase{"Reset", error::connection_reset, What::cut, 502},
        FailureCase{"TlsCut", boost::asio::ssl::error::stream_truncated, What::cut, 502},
        FailureCase{"Partial", boost::beast::http::error::partial_message, What::cut, 502},
        FailureCase{"BadChunk", boost::beast::http::error::bad_chunk, What::malformed, 502},
        FailureCase{"LongHead", boost::beast::http::error::header_limit, What::malformed, 502}),
    [](const auto& tested) { return tested.param.name; });

TEST(Failure, HasTheStatusThatAServerOnTheWayHasSaid) {
  auto failure = failure_of(Where::upstream, Errc::no_token);
  failure.status = 429;
  EXPECT_EQ(status_for(failure), 429U);
  EXPECT_TRUE(out_of_reach(failure)) << "what is stored may stand in";
}

TEST(Failure, OfAClientIsItsOwnFault) {
  EXPECT_EQ(status_for({Where::client, What::timed_out}), 408U);
  EXPECT_EQ(status_for({Where::client, What::cut}), 400U);
  EXPECT_EQ(status_for({Where::client, What::malformed}), 400U);
}

TEST(Failure, OfOursIsAnOverload) {
  EXPECT_EQ(status_for({Where::us, What::overload}), 503U);
}

TEST(Failure, IsOutOfReachWhereNoServerAnswered) {
  for (const auto what :
       {What::no_address, What::dns, What::unreachable, What::timed_out, What::cut}) {
    EXPECT_TRUE(out_of_reach({Failure::Where::upstream, what})) << word(what);
    EXPECT_FALSE(out_of_reach({Failure::Where::client, what})) << word(what);
  }
  for (const auto what :
       {What::denied, What::malformed, What::untrusted, What::abandoned, What::overload}) {
    EXPECT_FALSE(out_of_reach({Failure::Where::upstream, what})) << word(what);
  }
}

TEST(Failure, IsUnreachedWhereNoServerWasConnectedTo) {
  for (const auto cause : {Errc::connect_refused, Errc::connect_failed, Errc::connect_timed_out,
                           Errc::name_not_found, Errc::resolver_failed})
    EXPECT_TRUE(is_unreached(failure_of(Where::upstream, cause))) << static_cast<int>(cause);
  for (const auto cause : {Errc::redirected_out, Errc::tls_unverified, Errc::denied_address})
    EXPECT_FALSE(is_unreached(failure_of(Where::upstream, cause))) << static_cast<int>(cause);
  EXPECT_FALSE(is_unreached(failure_of(Where::upstream, error::eof)));
}

TEST(Failure, OfNameServersIsNotTheOrigins) {
  EXPECT_FALSE(is_of_origin(failure_of(Where::upstream, Errc::resolver_failed).what));
  EXPECT_FALSE(is_of_origin(failure_of(Where::upstream, Errc::resolver_timed_out).what));
  EXPECT_TRUE(is_of_origin(failure_of(Where::upstream, Errc::name_not_found).what));
}

TEST(Failure, SaysWhyInOneLineAndOneWord) {
  for (int i = 0; i <= static_cast<int>(What::overload); ++i) {
    const auto what = static_cast<What>(i);
    EXPECT_EQ(word(what).find_first_of(" \"\\"), std::string_view::npos) << i;
    EXPECT_NE(word(what), "unknown") << i;
    EXPECT_FALSE(text({Where::upstream, what}).empty()) << i;
  }
  const Failure cut{Where::upstream, What::cut, error::connection_reset};
  EXPECT_EQ(text(cut), "the connection was cut before the response was complete (" +
                           cut.cause.message() + ")");
}

}  // namespace
}  // namespace proxy::upstream
