// The requests that were answered last, for the dashboard, and who was busiest in the last hour.
#pragma once

#include <array>
#include <boost/circular_buffer.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "proxy/observe/access_log.hpp"

namespace proxy::observe {

// One request. Of the record it has what sentence_of() reads, the status, the bytes and the
// neighbour; the rest is empty. Texts of more than 1 KiB are cut.
struct RecentRequest {
  std::uint64_t number = 0;   // counts the requests kept by its thread, from 1 on
  std::uint64_t of_kind = 0;  // counts all requests of its kind and thread, those not kept included
  std::chrono::system_clock::time_point ended;
  std::chrono::milliseconds took;
  std::string client;
  std::string method;
  std::string url;
  RequestRecord record;
};

// Requests of one kind displace only each other, so that many hits do not hide the last failure.
enum class RecentKind : std::uint8_t { hit, forwarded, failed };
inline constexpr std::size_t kRecentKinds = 3;
RecentKind kind_of(const RequestRecord& record);

// Keeps the last kMost requests of each kind and thread, except those for our own pages. It takes
// at most kMost of a kind in each kWindow, the first ones, so that a thread that answers many
// spends little on them.
class RecentRequests {
 public:
  static constexpr std::size_t kMost = 100;
  static constexpr std::chrono::seconds kWindow{1};

  // wants() and add() are for one thread.
  class OfThread {
   public:
    // Whether to call add() for this request.
    [[nodiscard]] bool wants(const RequestRecord& record);
    void add(const LogEntry& entry);

   private:
    friend class RecentRequests;
    using Ring = boost::circular_buffer<std::shared_ptr<const RecentRequest>>;

    struct Window {
      std::chrono::steady_clock::time_point since{};
      std::size_t taken = 0;
      std::uint64_t all = 0;  // since the thread began
    };

    std::array<Window, kRecentKinds> windows_{};
    std::uint64_t added_ = 0;
    threads::Mutex mutex_;
    std::array<Ring, kRecentKinds> rings_ GUARDED_BY(mutex_){Ring{kMost}, Ring{kMost}, Ring{kMost}};
  };

  // Adds the list of one more thread. Call this before the threads start.
  OfThread& add_thread() { return of_threads_.emplace_back(); }

  struct Found {
    std::size_t thread;
    std::shared_ptr<const RecentRequest> request;
  };
  // The number of the last request that a reader knows, by thread.
  using Known = std::vector<std::uint64_t>;
  // The requests that the reader does not know yet, in the order of their ends; `known` follows.
  // Ends of two threads within one tick of the clock are in any order. Any thread, once the threads
  // are added.
  [[nodiscard]] std::vector<Found> newer_than(Known& known);

 private:
  std::deque<OfThread> of_threads_;
};

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
  // The names with most requests and those with most bytes, in no order.
  struct Told {
    std::vector<Row> hosts;
    std::vector<Row> urls;
    std::vector<Row> clients;
  };

  // Call this about once a second with all requests since the last call.
  void record(const std::vector<RecentRequests::Found>& requests, Time now);
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

}  // namespace proxy::observe
