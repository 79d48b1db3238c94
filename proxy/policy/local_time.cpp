#include "proxy/policy/local_time.hpp"

#include <atomic>
#include <cstdint>
#include <ctime>

namespace proxy {

using std::chrono::system_clock;

namespace {

std::atomic<std::uint64_t> zone_reads{0};  // how often the time zone was read

LocalTime computed(system_clock::time_point now) {
  const std::time_t seconds = system_clock::to_time_t(now);
  std::tm local{};
  if (::localtime_r(&seconds, &local) == nullptr) return {};
  const int minute = local.tm_hour * 60 + local.tm_min;
  return {static_cast<unsigned>((local.tm_wday + 6) % 7), static_cast<unsigned>(minute)};
}

}  // namespace

// localtime_r() takes a lock of the process, so each thread keeps the last minute's answer.
LocalTime local_time(system_clock::time_point now) {
  struct Last {
    std::chrono::sys_time<std::chrono::minutes> minute = decltype(minute)::min();
    std::uint64_t zone = 0;
    LocalTime local;
  };
  thread_local Last last;
  const auto minute = std::chrono::floor<std::chrono::minutes>(now);
  const auto zone = zone_reads.load(std::memory_order_acquire);
  if (last.minute != minute || last.zone != zone) last = {minute, zone, computed(now)};
  return last.local;
}

void read_time_zone() {
  ::tzset();
  zone_reads.fetch_add(1, std::memory_order_release);
}

}  // namespace proxy
