#include "proxy/policy/local_time.hpp"

#include <ctime>

namespace proxy {

LocalTime local_time(std::chrono::system_clock::time_point now) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm local{};
  if (::localtime_r(&seconds, &local) == nullptr) return {};
  const int minute = local.tm_hour * 60 + local.tm_min;
  return {static_cast<unsigned>((local.tm_wday + 6) % 7), static_cast<unsigned>(minute)};
}

void read_time_zone() {
  ::tzset();
}

}  // namespace proxy
