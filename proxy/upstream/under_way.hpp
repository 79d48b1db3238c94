// One request to a server, while it is under way: what it waits for, and since when.
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "proxy/upstream/endpoint.hpp"
#include "proxy/upstream/failure.hpp"
#include "proxy/upstream/route.hpp"

namespace proxy::upstream {

class TrafficOfThread;

// `name`: the address of the server, from the name servers.
enum class Awaited : std::uint8_t { nothing, name, connection, first_byte, body };
std::string_view word(Awaited what);  // "first-byte"

// Belongs to one thread; others see it through OriginTraffic. It is in the thread's list from
// turn_to() to end(), and counts for the origin what becomes of the request.
class UnderWay : public boost::intrusive::list_base_hook<> {
 public:
  using Clock = std::chrono::steady_clock;

  // `head` begins with the request line. It and `at` outlive this object.
  UnderWay(TrafficOfThread& at, std::string_view head, bool of_neighbour = false)
      : at_(at), head_(head), of_neighbour_(of_neighbour) {}
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  ~UnderWay() { end(); }

  // `server` is asked now: the origin, or the parent `through`. Counts a request of the origin's,
  // unless the same request is counted and still open. All outlive this object.
  void turn_to(const Endpoint& origin, const Endpoint& server, const Parent* through,
               Clock::time_point now);
  void await(Awaited what) { awaited_.store(what, std::memory_order_relaxed); }
  void await(Awaited what, Clock::time_point since) {
    since_.store(since, std::memory_order_relaxed);
    await(what);
  }
  // A part of the request's body was sent. The first byte is awaited from now on.
  void sent(Clock::time_point now) { since_.store(now, std::memory_order_relaxed); }
  [[nodiscard]] Awaited awaited() const { return awaited_.load(std::memory_order_relaxed); }
  // The head of the final answer has arrived.
  void answered(unsigned status, Clock::time_point now);
  // The request has failed, before its head or in its body. That counts if the origin, the way to
  // it or the name servers are the cause.
  void failed(Failure::What why, Clock::time_point now);
  // A part of the body has arrived.
  void received(std::size_t bytes) {
    bytes_.store(bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  // Nothing is awaited any more. If the request was given up after kPatience without an answer,
  // that counts as a failure, of the name servers if they were waited for. May be called again once
  // more bytes have been received.
  static constexpr std::chrono::seconds kPatience{3};
  void end();

 private:
  friend class TrafficOfThread;
  friend class OriginTraffic;

  TrafficOfThread& at_;
  const std::string_view head_;
  const bool of_neighbour_;
  bool is_open_ = false;  // neither answered nor failed
  // Change under the lock of at_.
  const Endpoint* origin_ = nullptr;
  const Endpoint* server_ = nullptr;
  const Parent* through_ = nullptr;
  std::atomic<Awaited> awaited_{Awaited::nothing};
  std::atomic<Clock::time_point> since_{};
  std::atomic<std::uint64_t> bytes_{0};  // that the origin's record does not count yet
};

}  // namespace proxy::upstream
