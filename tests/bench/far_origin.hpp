// An origin with large resources that is far away: each response begins after a round trip, and
// each connection has a limited rate.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <string>
#include <thread>

#include "tests/support/incoming.hpp"
#include "tests/support/message.hpp"
#include "tests/support/socket.hpp"

namespace bench {

struct Path {
  std::chrono::milliseconds round_trip{0};
  std::uint64_t bytes_per_second = 0;  // of each connection; 0: unlimited
};

// Every URL is a resource of `size` bytes with a strong validator. A request may ask for one range.
class FarOrigin {
 public:
  FarOrigin(Path path, std::uint64_t size)
      : path_(path), size_(size), acceptor_([this] { accept_all(); }) {}
  FarOrigin(const FarOrigin&) = delete;
  FarOrigin& operator=(const FarOrigin&) = delete;
  // Destroy the proxy first, because it has opened the connections.
  ~FarOrigin() {
    listener_.shut_down();
    acceptor_.join();
  }

  std::string url(std::uint64_t number) const {
    return "http://127.0.0.1:" + std::to_string(listener_.port()) + "/" + std::to_string(number);
  }
  // While near, it has neither round trips nor a limited rate.
  void be_near(bool near) { near_ = near; }
  std::uint64_t requests() const { return requests_; }
  std::uint64_t body_bytes_sent() const { return body_bytes_sent_; }

 private:
  static constexpr std::uint64_t kPiece = 64 * 1024;

  void accept_all() {
    std::list<std::jthread> threads;
    while (auto socket = listener_.accept()) {
      threads.emplace_back([this, connection = std::move(*socket)]() mutable {
        travel();  // of the connection's own handshake
        serve(connection);
      });
    }
  }

  void travel() const {
    // The kernel cannot delay packets here, so the server plays the distance.
    if (!near_) std::this_thread::sleep_for(path_.round_trip);
  }

  void serve(support::Socket& socket) try {
    support::Incoming<support::Request> incoming(socket);
    while (const auto head = incoming.head()) {
      ++requests_;
      travel();
      const bool answered = answer(socket, head->field("Range"));
      if (!answered) return;
    }
  } catch (const support::TimedOut&) {  // a connection nobody uses any more
  }

  // `range`: of the form bytes=FIRST-LAST or bytes=FIRST-, or empty.
  bool answer(support::Socket& socket, const std::string& range) {
    std::uint64_t first = 0;
    std::uint64_t last = size_ - 1;
    support::Fields fields{
        {"Cache-Control", "max-age=86400"}, {"ETag", "\"v1\""}, {"Accept-Ranges", "bytes"}};
    if (!range.empty()) {
      const auto dash = range.find('-');
      first = std::stoull(range.substr(6, dash - 6));
      if (dash + 1 < range.size()) {
        last = std::min<std::uint64_t>(last, std::stoull(range.substr(dash + 1)));
      }
      fields.emplace_back("Content-Range", "bytes " + std::to_string(first) + '-' +
                                               std::to_string(last) + '/' + std::to_string(size_));
    }
    fields.emplace_back("Content-Length", std::to_string(last - first + 1));
    const auto* const status = range.empty() ? "HTTP/1.1 200 OK" : "HTTP/1.1 206 Partial Content";
    return socket.write(support::head_text(status, fields)) && send_body(socket, last - first + 1);
  }

  bool send_body(support::Socket& socket, std::uint64_t size) {
    const std::string piece(kPiece, 'x');
    const auto begun = std::chrono::steady_clock::now();
    for (std::uint64_t sent = 0; sent < size;) {
      const auto count = std::min(kPiece, size - sent);
      if (!socket.write(std::string_view(piece).substr(0, count))) return false;
      sent += count;
      body_bytes_sent_ += count;
      if (near_ || path_.bytes_per_second == 0) continue;
      const std::chrono::duration<double> due(static_cast<double>(sent) /
                                              static_cast<double>(path_.bytes_per_second));
      std::this_thread::sleep_until(
          begun + std::chrono::duration_cast<std::chrono::steady_clock::duration>(due));
    }
    return true;
  }

  const Path path_;
  const std::uint64_t size_;
  std::atomic<bool> near_ = false;
  std::atomic<std::uint64_t> requests_ = 0;
  std::atomic<std::uint64_t> body_bytes_sent_ = 0;
  support::Listener listener_;
  std::thread acceptor_;
};

}  // namespace bench
