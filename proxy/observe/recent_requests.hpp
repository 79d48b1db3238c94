// The requests that were answered last, for the dashboard.
#pragma once

#include <array>
#include <boost/circular_buffer.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "peers/threads/mutex.hpp"
#include "proxy/observe/access_log.hpp"

namespace proxy {

// One request. Of the record it has what verdict_of() reads, the status and the bytes; the rest is
// empty. Texts of more than 1 KiB are cut.
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

  // Before the threads start.
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

}  // namespace proxy
