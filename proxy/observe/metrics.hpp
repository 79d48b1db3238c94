// Counters: each thread adds to its own, and a reader adds up those of all threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <string>

#include "proxy/observe/request_record.hpp"

namespace proxy {

// Written by one thread, read by any.
class Count {
 public:
  void add(std::uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// The forms in which neighbours get our digest.
enum class ServedForm : std::uint8_t { native, squid };
struct DigestsSent {
  Count requests;  // answered by the digest, or by 304
  Count bytes;     // of bodies
  Count not_modified;
};

// The struct has a member for each family of /metrics that counts, so it has more members than
// others.
struct alignas(64) ThreadCounters {
  std::array<Count, kTags> requests;               // answered, by Tag
  std::array<Count, kHierarchies> upstream_bytes;  // received bodies, by Hierarchy (none: unused)
  Count bytes_sent;                                // to clients
  Count bytes_from_cache;                          // of those, bodies of hits
  Count collapsed;
  Count aborted;
  Count accepted;                           // connections
  Count rejected;                           // connections over the limit
  Count malformed;                          // requests refused by the scan
  Count stored;                             // responses
  Count hedges;                             // questions asked while a neighbour was silent
  Count blocked;                            // requests refused by a list
  Count purged;                             // responses that a client purged
  std::array<Count, kCuts> cuts;            // connections ended by us, by Cut
  std::array<DigestsSent, 2> digests_sent;  // by ServedForm
};

// Values measured when the page is read.
struct Gauges {
  std::size_t connections = 0;
  std::size_t cache_entries = 0;
  std::uint64_t cache_bytes = 0;
  std::uint64_t evicted_duplicates = 0;
  std::uint64_t memory_used = 0;
  std::uint64_t memory_limit = 0;
  std::uint64_t log_lines_dropped = 0;
  std::size_t block_entries = 0;
  std::size_t allow_entries = 0;
};

class Metrics {
 public:
  explicit Metrics(std::size_t threads) : of_threads_(threads) {}
  ThreadCounters& of_thread(std::size_t number) { return of_threads_[number]; }

  // Sums one counter over all threads. Any thread.
  template <class Pick>
  [[nodiscard]] std::uint64_t sum(Pick pick) const {
    std::uint64_t total = 0;
    for (const auto& counters : of_threads_) total += pick(counters).get();
    return total;
  }

  // Prometheus text format 0.0.4, without the peers' part.
  void append_text(std::string& out, const Gauges& gauges) const;

 private:
  std::deque<ThreadCounters> of_threads_;
};

}  // namespace proxy
