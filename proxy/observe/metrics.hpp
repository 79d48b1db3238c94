// Counters: each thread adds to its own, and a reader adds up those of all threads.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "proxy/observe/count.hpp"
#include "proxy/observe/request_record.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy::observe {

// The forms in which neighbours get our digest.
enum class ServedForm : std::uint8_t { native, squid };
struct DigestsSent {
  Count requests;  // answered by the digest, or by 304
  Count bytes;     // of bodies
  Count not_modified;
};

// The times of requests, from the end of the request's head.
struct RequestTimes {
  Histogram first_byte;  // to the head of the response
  Histogram total;       // to the end of the response, or to its abort
};

// The classes of a status by its first digit; 0: nothing was sent.
inline constexpr std::size_t kStatusClasses = 6;

// How requests were answered.
struct RequestCounters {
  std::array<Count, kTags> requests;                  // answered, by Tag
  std::array<Count, upstream::kFailures + 1> failed;  // of them Tag::failed, by cause_of()
  std::array<Count, kStatusClasses> by_class;         // but questions, by class of the status
  std::array<RequestTimes, kRequestOutcomes> times;   // by RequestOutcome
  Count collapsed;
  Count aborted;
  Count malformed;  // refused by the scan
  Count blocked;    // refused by a list
  Count hedges;     // questions asked while a neighbour was silent
};
struct ConnectionCounters {
  Count accepted;
  Count rejected;                 // over the limit
  std::array<Count, kCuts> cuts;  // ended by us, by Cut
};
struct ByteCounters {
  std::array<Count, kHierarchies> upstream_bytes;  // received bodies, by Hierarchy (none: unused)
  Count bytes_sent;                                // to clients
  Count bytes_from_cache;                          // of those, bodies of hits
  std::array<DigestsSent, 2> digests_sent;         // by ServedForm
};
struct StoreCounters {
  Count stored;                                         // responses
  std::array<Count, cache::kStorabilities> not_stored;  // responses, by Storability; `yes`: unused
  Count purged;                                         // responses that a client purged

  // Counts a response as stored, or as not stored for this reason.
  void count(cache::Storability storability) {
    if (storability == cache::Storability::yes) return stored.add();
    not_stored[static_cast<std::size_t>(storability)].add();
  }
};

struct alignas(64) ThreadCounters : RequestCounters,
                                    ConnectionCounters,
                                    ByteCounters,
                                    StoreCounters {};

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

  // Sums one counter over all threads. `pick`: a member of ThreadCounters, or a function that
  // chooses it. Any thread.
  template <class Pick>
  [[nodiscard]] std::uint64_t sum(Pick pick) const {
    std::uint64_t total = 0;
    for (const auto& counters : of_threads_) total += std::invoke(pick, counters).get();
    return total;
  }
  // Sums one counter of several, such as ThreadCounters::requests, over all threads.
  template <class Counts, class Owner>
  [[nodiscard]] std::uint64_t sum(Counts Owner::*counts, std::size_t at) const {
    return sum([&](const ThreadCounters& c) -> const Count& { return (c.*counts)[at]; });
  }
  // Sums the histogram over all threads. Any thread may call this.
  [[nodiscard]] Histogram::Reading times(RequestOutcome of, Histogram RequestTimes::*which) const;

  // Prometheus text format 0.0.4, without the peers' part.
  void append_text(std::string& out, const Gauges& gauges) const;

 private:
  std::deque<ThreadCounters> of_threads_;
};

// The place in ThreadCounters::failed: the Failure::What that RequestRecord::failure spells, else
// kFailures.
std::size_t cause_of(std::string_view failure);

// Counts a request that ended at `now`. For the counters' thread.
void count_request(ThreadCounters& counters, const RequestRecord& record,
                   std::chrono::steady_clock::time_point now);

// Appends, in Prometheus' text format: responses by class of their status, the histograms of the
// time to the first byte and to the last, and what was not stored, by reason. Any thread.
void append_request_metrics(std::string& out, const Metrics& metrics);

// Appends the samples of one histogram, in seconds: `NAME_bucket{LABELS,le="0.001"} 5`, and so on
// to NAME_count. `labels` has at least one label: `outcome="hit"`.
void append_samples(std::string& out, std::string_view name, std::string_view labels,
                    const Histogram::Reading& reading);

}  // namespace proxy::observe
