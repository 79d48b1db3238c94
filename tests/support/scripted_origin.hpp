// An HTTP/1.1 server on loopback that answers as a test scripts it, and records each request. Tests
// use it as a misbehaving neighbour, too. It reads requests with Boost.Beast's parser.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/incoming.hpp"
#include "tests/support/reply.hpp"
#include "tests/support/socket.hpp"

namespace support {

// Each connection has a thread, on which its Answers run. All functions may be called at any time
// on any thread. A malformed request fails the test that runs.
class ScriptedOrigin {
 public:
  using Answer = std::function<Reply(const Request&)>;

  // `reach`: all_networks also listens on the other addresses of loopback, 127.0.0.2 and so on.
  explicit ScriptedOrigin(Reach reach = Reach::loopback);
  ScriptedOrigin(const ScriptedOrigin&) = delete;
  ScriptedOrigin& operator=(const ScriptedOrigin&) = delete;
  ~ScriptedOrigin();

  // Answers requests for this path once they are whole. A later call for a path replaces the
  // former.
  void on(std::string path, Answer answer);
  void on(std::string path, Reply reply);
  // Answers before the request's body is read, and sends no 100 (Continue) for it.
  void on_head(std::string path, Reply reply);
  // Answers once the request is whole, and sends no 100 (Continue) even if the client expects it.
  void never_asks(std::string path, Reply reply);
  // Answers requests for all other paths, which get a 404 by default.
  void otherwise(Answer answer);

  // From now on each response names this proxy as its sender, as a Squid does.
  void sign_as(std::string name);

  // From now on forgets each request once it is answered: for tests that run for hours.
  void record_nothing() { records_ = false; }

  std::uint16_t port() const { return listener_.port(); }
  std::string url(std::string_view path) const;

  std::vector<Request> requests() const;
  std::vector<Request> requests(std::string_view path) const;
  std::size_t count() const;
  std::size_t count(std::string_view path) const;
  // Waits for so many heads of requests; false if fewer have come within kPatience.
  bool await_requests(std::string_view path, std::size_t number) const;
  std::size_t connections() const { return accepted_; }
  std::uint64_t body_bytes_sent() const { return body_bytes_sent_; }
  std::size_t open_connections() const;

 private:
  struct Route {
    Answer answer;
    bool on_head = false;
    bool asks = true;  // sends 100 (Continue) where the client expects it
  };
  struct Connection {
    Socket socket;
    std::size_t number;
    std::atomic<bool> over = false;
    std::jthread thread = {};
  };

  void accept_all();
  void serve(Connection& connection, std::stop_token stop);
  bool answer_one(Connection& connection, Incoming<Request>& incoming, Request& request,
                  const std::stop_token& stop);
  bool play(Socket& socket, const Reply& reply, std::string_view method, std::stop_token stop);
  std::string signed_text(std::string bytes) const;
  void read_body(Incoming<Request>& incoming, Request& request);
  Route route_for(const std::string& path) const;

  Listener listener_;
  mutable std::mutex mutex_;  // guards all members below but the atomics
  std::map<std::string, Route, std::less<>> routes_;
  Answer otherwise_;
  std::string signature_;  // a line of each head
  std::list<Request> requests_;
  std::list<Connection> connections_;
  std::atomic<bool> records_ = true;
  std::atomic<std::size_t> accepted_ = 0;
  std::atomic<std::uint64_t> body_bytes_sent_ = 0;
  std::thread acceptor_;
};

}  // namespace support
