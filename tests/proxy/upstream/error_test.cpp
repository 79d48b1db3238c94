#include "proxy/upstream/failure.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace proxy::upstream {
namespace {

namespace errc = boost::system::errc;

TEST(UpstreamError, SaysWhatHappenedInAsManyWaysAsThereAre) {
  std::set<std::string> messages;
  const int last = static_cast<int>(Errc::tls_expired);
  for (int i = 1; i <= last; ++i) messages.insert(upstream_category().message(i));
  EXPECT_EQ(messages.size(), static_cast<std::size_t>(last));
  EXPECT_FALSE(messages.contains(upstream_category().message(last + 1)));
}

TEST(UpstreamError, ComparesEqualToThePortableConditions) {
  EXPECT_EQ(make_error_code(Errc::resolver_timed_out), errc::timed_out);
  EXPECT_EQ(make_error_code(Errc::connect_timed_out), errc::timed_out);
  EXPECT_EQ(make_error_code(Errc::denied_address), errc::permission_denied);
  EXPECT_NE(make_error_code(Errc::connect_failed), errc::timed_out);
  EXPECT_NE(make_error_code(Errc::tls_failed), errc::permission_denied);
}

}  // namespace
}  // namespace proxy::upstream
