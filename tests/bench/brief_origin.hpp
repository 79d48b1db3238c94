// An origin that answers every request with the same cacheable response and records nothing, for
// benches that store millions of entries.
#pragma once

#include <fmt/format.h>

#include <list>
#include <string>
#include <thread>
#include <utility>

#include "tests/support/socket.hpp"

namespace bench {

// Looks at no request: requests have no body, so the empty line ends each.
class BriefOrigin {
 public:
  explicit BriefOrigin(std::string response =
                           "HTTP/1.1 200 OK\r\nCache-Control: max-age=86400\r\n"
                           "Content-Length: 5\r\n\r\nhello")
      : response_(std::move(response)), acceptor_([this] { accept_all(); }) {}
  BriefOrigin(const BriefOrigin&) = delete;
  BriefOrigin& operator=(const BriefOrigin&) = delete;
  // The proxy must have ended by then: its connections keep threads of the origin running.
  ~BriefOrigin() {
    listener_.shut_down();
    acceptor_.join();
  }

  std::string url(std::uint64_t number) const {
    return fmt::format("http://127.0.0.1:{}/files/{:07}", listener_.port(), number);
  }

 private:
  void accept_all() {
    std::list<std::jthread> threads;
    while (auto socket = listener_.accept()) {
      threads.emplace_back([this, peer = std::move(*socket)]() mutable { serve(peer); });
    }
  }

  void serve(support::Socket& socket) const try {
    std::string unread;
    for (;;) {
      const auto bytes = socket.read_some();
      if (bytes.empty()) return;
      unread += bytes;
      for (auto end = unread.find("\r\n\r\n"); end != std::string::npos;
           end = unread.find("\r\n\r\n")) {
        unread.erase(0, end + 4);
        if (!socket.write(response_)) return;
      }
    }
  } catch (const support::TimedOut&) {  // the connection is idle
  }

  const std::string response_;
  support::Listener listener_;
  std::thread acceptor_;
};

}  // namespace bench
