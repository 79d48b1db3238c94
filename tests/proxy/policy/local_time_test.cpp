#include "proxy/policy/access_rules.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace proxy::policy {
namespace {

// The time zone of the environment, until the end of the test.
class Zone {
 public:
  explicit Zone(const char* name) {
    if (const char* const set = std::getenv("TZ")) before_ = set;
    ::setenv("TZ", name, 1);
    read_time_zone();
  }
  ~Zone() {
    if (before_) {
      ::setenv("TZ", before_->c_str(), 1);
    } else {
      ::unsetenv("TZ");
    }
    read_time_zone();
  }
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;

 private:
  std::optional<std::string> before_;
};

LocalTime at(std::time_t seconds) {
  return local_time(std::chrono::system_clock::from_time_t(seconds));
}

TEST(LocalTime, IsThatOfTheSystemsZoneWithItsSummerTime) {
  constexpr std::time_t kThursdayMidnight = 0;            // 1970-01-01 00:00 UTC
  constexpr std::time_t kSundayInSummer = 1'751'756'399;  // 2025-07-05 22:59:59 UTC
  {
    const Zone utc("UTC");
    EXPECT_EQ(at(kThursdayMidnight), (LocalTime{3, 0}));
    EXPECT_EQ(at(kSundayInSummer), (LocalTime{5, 22 * 60 + 59}));
  }
  const Zone berlin("CET-1CEST,M3.5.0,M10.5.0/3");
  EXPECT_EQ(at(kThursdayMidnight), (LocalTime{3, 60}));
  EXPECT_EQ(at(kSundayInSummer), (LocalTime{6, 59}));
}

}  // namespace
}  // namespace proxy::policy
