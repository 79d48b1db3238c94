// The hour of the week on the clocks of this place.
#pragma once

#include <chrono>

namespace proxy {

struct LocalTime {
  unsigned day = 0;     // 0 is Monday
  unsigned minute = 0;  // of the day

  bool operator==(const LocalTime&) const = default;
};

// In the system's time zone, summer time included. Any thread.
LocalTime local_time(std::chrono::system_clock::time_point now);
// Reads the system's time zone anew, since it may have changed.
void read_time_zone();

}  // namespace proxy
