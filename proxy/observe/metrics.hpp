// Counters: each thread adds to its own, and a reader adds up those of all threads.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>

#include "proxy/observe/count.hpp"
#include "proxy/observe/histogram.hpp"
#include "proxy/observe/request_record.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy {

// The forms in which neighbours get our digest.
enum class ServedForm : std::uint8_t { native, squid };
struct DigestsSent {
  Count requests;  // answered by the digest, or by 304
  Count bytes;     // of bodies
  Count not_modified;
};

// From the end of a request's head.
struct RequestTimes {
  Histogram first_byte;  // to the head of the response
  Histogram total;       // to the end of the response, or to its abort
};

// The classes of a status by its first digit; 0: nothing was sent.
inline constexpr std::size_t kStatusClasses = 6;

// The struct has a member for each family of /metrics that counts, so it has more members than
// others.
struct alignas(64) ThreadCounters {
  std::array<Count, kTags> requests;                 // answered, by Tag
  std::array<Count, kFailures + 1> failed;           // of them Tag::failed, by cause_of()
  std::array<Count, kStatusClasses> by_class;        // but questions, by class of the status
  std::array<RequestTimes, kRequestOutcomes> times;  // by RequestOutcome
  std::array<Count, kHierarchies> upstream_bytes;    // received bodies, by Hierarchy (none: unused)
  Count bytes_sent;                                  // to clients
  Count bytes_from_cache;                            // of those, bodies of hits
  Count collapsed;
  Count aborted;
  Count accepted;                                       // connections
  Count rejected;                                       // connections over the limit
  Count malformed;                                      // requests refused by the scan
  Count stored;                                         // responses
  std::array<Count, cache::kStorabilities> not_stored;  // responses, by Storability; `yes`: unused
  Count hedges;                             // questions asked while a neighbour was silent
  Count blocked;                            // requests refused by a list
  Count purged;                             // responses that a client purged
  std::array<Count, kCuts> cuts;            // connections ended by us, by Cut
  std::array<DigestsSent, 2> digests_sent;  // by ServedForm

  // Counts a response as stored, or as not stored for this reason.
  void count(cache::Storability storability) {
    if (storability == cache::Storability::yes) return stored.add();
    not_stored[static_cast<std::size_t>(storability)].add();
  }
};

// Values measured when the page is read.
struct Gauges {
  std::size_t connections = 0;
  std::size_t cache_entries = 0;
  std::uint64_t cache_bytes = 0;
  std::uint64_t evicted = 0;
  std::uint64_t evicted_duplicates = 0;  // of those, as a sibling keeps them
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

  // Any thread.
  template <class Look>
  void each(Look look) const {
    for (const auto& counters : of_threads_) look(counters);
  }

  // Prometheus text format 0.0.4, without the peers' part.
  void append_text(std::string& out, const Gauges& gauges) const;

 private:
  std::deque<ThreadCounters> of_threads_;
};

}  // namespace proxy
