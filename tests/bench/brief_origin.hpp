// An origin that answers every request with the same short cacheable response and records nothing,
// for benches that store millions of entries.
#pragma once

#include <list>
#include <string>
#include <thread>

#include "tests/support/incoming.hpp"
#include "tests/support/socket.hpp"

namespace bench {

class BriefOrigin {
 public:
  BriefOrigin() : acceptor_([this] { accept_all(); }) {}
  BriefOrigin(const BriefOrigin&) = delete;
  BriefOrigin& operator=(const BriefOrigin&) = delete;
  // The proxy must have ended by then: its connections keep threads of the origin running.
  ~BriefOrigin() {
    listener_.shut_down();
    acceptor_.join();
  }

  std::string url(std::uint64_t number) const {
    return "http://127.0.0.1:" + std::to_string(listener_.port()) + "/" + std::to_string(number);
  }

 private:
  void accept_all() {
    std::list<std::jthread> threads;
    while (auto socket = listener_.accept()) {
      threads.emplace_back([connection = std::move(*socket)]() mutable { serve(connection); });
    }
  }

  static void serve(support::Socket& socket) try {
    support::Incoming<support::Request> incoming(socket);
    while (incoming.head()) {
      while (!incoming.body_piece().empty()) {
      }
      if (!socket.write("HTTP/1.1 200 OK\r\nCache-Control: max-age=86400\r\n"
                        "Content-Length: 5\r\n\r\nhello")) {
        return;
      }
    }
  } catch (const support::TimedOut&) {  // the connection is idle
  }

  support::Listener listener_;
  std::thread acceptor_;
};

}  // namespace bench
