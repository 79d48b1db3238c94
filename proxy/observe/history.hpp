// What happened in each second of the last hour and in each minute of the last day.
#pragma once

#include <array>
#include <boost/circular_buffer.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "peers/threads/mutex.hpp"
#include "proxy/observe/metrics.hpp"

namespace proxy::observe {

// The numbers of the history. Requests for our own pages, neighbours' questions among them, count
// in no series.
enum class Series : std::uint8_t {
  requests,         // answered
  hits,             // of those, answered from memory or disk
  failed,           // of those, well-formed ones that nobody could answer
  refused,          // of those, that the settings forbid
  sent_bytes,       // to clients, heads included
  cache_bytes,      // of those, bodies of hits
  neighbour_bytes,  // received from the stores of neighbours
  origin_bytes,     // received from origins, and from parents that fetched from origins
  // Requests that failed because of an origin, or of the way to it. A missing name is no cause.
  failed_by_origins,
};
inline constexpr std::size_t kSeries = 9;
// The name of the series as the pages spell it: "sent_bytes".
std::string_view name_of(Series series);

using Sample = std::array<std::uint64_t, kSeries>;  // indexed by Series

// The totals since the start of the process.
Sample totals_of(const Metrics& metrics);

// Takes 370 KB from the beginning, and never more. Any thread.
class History {
 public:
  // Consecutive samples, the oldest first, one for each `step`. The last one ends at `end`.
  struct Span {
    std::chrono::seconds step;
    std::chrono::sys_seconds end{};
    std::vector<Sample> samples = {};
  };

  // Records the totals of this second; call this once a second. What has been counted since the
  // last call is spread evenly over the seconds since then. The first call records nothing: it is
  // the beginning. A second that has been recorded already is ignored.
  void record(std::chrono::sys_seconds now, const Sample& totals);

  // The seconds of the last hour, at most 3,600.
  [[nodiscard]] Span hour() const;
  // The minutes of the last day, at most 1,440, each recorded from its begin to its end. The minute
  // under way is left out, and so is the one in which the recording began.
  [[nodiscard]] Span day() const;
  // The last second. All is 0 before there is one.
  struct Latest {
    std::chrono::sys_seconds end{};
    Sample sample{};
  };
  [[nodiscard]] Latest latest() const;
  // The sum of the samples of the last `time`, or of all if fewer are recorded.
  [[nodiscard]] Sample sum_of_last(std::chrono::seconds time) const;

 private:
  static constexpr std::chrono::seconds kLongestGap{24 * 3600};

  struct Noted {
    std::chrono::sys_seconds at;
    Sample totals;
  };

  void append(std::chrono::sys_seconds ends, const Sample& second) REQUIRES(mutex_);

  mutable threads::Mutex mutex_;
  std::optional<Noted> last_ GUARDED_BY(mutex_);
  std::chrono::sys_seconds begun_ GUARDED_BY(mutex_){};
  boost::circular_buffer<Sample> seconds_ GUARDED_BY(mutex_){3600};
  boost::circular_buffer<Sample> minutes_ GUARDED_BY(mutex_){1440};
  Sample minute_ GUARDED_BY(mutex_){};  // under way
  std::chrono::sys_seconds minutes_end_ GUARDED_BY(mutex_){};
};

}  // namespace proxy::observe
