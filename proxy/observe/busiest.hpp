// Which hosts, URLs and clients had most requests and bytes in the last hour, for administrators.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "peers/threads/mutex.hpp"
#include "proxy/observe/recent_requests.hpp"

namespace proxy {

// Learns from the requests that RecentRequests keeps: each of them stands for those of its kind
// that were left out. Where there are many names, those that were rare for ten minutes are
// forgotten. Any thread.
class Busiest {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::minutes kPart{10};
  static constexpr std::size_t kParts = 6;
  static constexpr std::size_t kMostNames = 512;  // in one part of the hour
  static constexpr std::size_t kKept = 128;       // of these by requests, and as many by bytes
  static constexpr std::size_t kTold = 25;        // likewise

  struct Row {
    std::string name;
    double requests = 0;
    double hits = 0;   // of the requests, answered by the cache
    double bytes = 0;  // sent to clients
  };
  // Those with most requests and those with most bytes, in no order.
  struct Told {
    std::vector<Row> hosts;
    std::vector<Row> urls;
    std::vector<Row> clients;
  };

  // Call this about once a second with all requests since the last call.
  void note(const std::vector<RecentRequests::Found>& requests, Time now);
  [[nodiscard]] Told tell() const;

 private:
  using Sums = std::unordered_map<std::string, Row>;
  struct Part {
    Time begun;
    Sums hosts, urls, clients;
  };
  // The requests of one kind and thread.
  struct Tally {
    std::uint64_t known = 0;   // of all that there were, as of the last call
    std::uint64_t newest = 0;  // likewise, as of this call
    std::uint64_t kept = 0;    // in this call
    [[nodiscard]] double weight() const {
      return static_cast<double>(newest - known) / static_cast<double>(kept);
    }
  };
  using Tallies = std::vector<std::array<Tally, kRecentKinds>>;  // by thread

  Part& part_at(Time now) REQUIRES(mutex_);
  void tally(const std::vector<RecentRequests::Found>& requests) REQUIRES(mutex_);
  Tally& tally_of(const RecentRequests::Found& found) REQUIRES(mutex_);

  mutable threads::Mutex mutex_;
  std::deque<Part> parts_ GUARDED_BY(mutex_);  // the oldest first
  Tallies tallies_ GUARDED_BY(mutex_);
};

// The host of a URL, or of "HOST:PORT", with its port.
std::string_view host_in(std::string_view url);

}  // namespace proxy
