// An HTTP/1.1 server on loopback that answers as a test scripts it and remembers what it was asked.
// It also plays the neighbour that misbehaves.
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

#include "tests/support/message.hpp"
#include "tests/support/reply.hpp"
#include "tests/support/socket.hpp"

namespace support {

struct Request : Head {
  std::string method;
  std::string target;
  std::string path;  // of the target, whichever its form; with the query
  std::string body;  // as much as has come
  bool whole = false;
  std::size_t connection = 0;     // counted from 0 in the order of accept
  std::size_t on_connection = 0;  // the how manieth of its connection, from 0
};

// Each connection has a thread. All calls may come at any time, from any thread; an Answer runs on
// the thread of the connection that asked.
class ScriptedOrigin {
 public:
  using Answer = std::function<Reply(const Request&)>;

  ScriptedOrigin();
  ScriptedOrigin(const ScriptedOrigin&) = delete;
  ScriptedOrigin& operator=(const ScriptedOrigin&) = delete;
  ~ScriptedOrigin();

  // Answers once the request is whole. The last word on a path holds.
  void on(std::string path, Answer answer);
  void on(std::string path, Reply reply);
  // Answers before the request's body is read, and without asking for it by 100 (Continue).
  void on_head(std::string path, Reply reply);
  // Waits for the body and says nothing before, whatever the client expects.
  void never_asks(std::string path, Reply reply);
  // For paths of which nothing was said; else they get a 404.
  void otherwise(Answer answer);

  std::uint16_t port() const { return listener_.port(); }
  std::string url(std::string_view path) const;

  std::vector<Request> requests() const;
  std::vector<Request> requests(std::string_view path) const;
  std::size_t count() const;
  std::size_t count(std::string_view path) const;
  // False if not so many heads have come within kPatience.
  bool await_requests(std::string_view path, std::size_t number) const;
  std::size_t connections() const { return accepted_; }
  std::uint64_t body_bytes_sent() const { return body_bytes_sent_; }
  std::size_t open_connections() const;

 private:
  struct Route {
    Answer answer;
    bool on_head = false;
    bool asks = true;  // for a body that waits to be asked for
  };
  struct Connection {
    Socket socket;
    std::size_t number;
    std::atomic<bool> over = false;
    std::jthread thread = {};
  };

  void accept_all();
  void serve(Connection& connection, std::stop_token stop);
  bool answer_one(Connection& connection, Incoming& incoming, Request& request,
                  const std::stop_token& stop);
  bool play(Socket& socket, const Reply& reply, std::string_view method, std::stop_token stop);
  void read_body(Incoming& incoming, Request& request);
  Route route_for(const std::string& path) const;

  Listener listener_;
  mutable std::mutex mutex_;  // guards all below but the atomics
  std::map<std::string, Route, std::less<>> routes_;
  Answer otherwise_;
  std::list<Request> requests_;
  std::list<Connection> connections_;
  std::atomic<std::size_t> accepted_ = 0;
  std::atomic<std::uint64_t> body_bytes_sent_ = 0;
  std::thread acceptor_;
};

}  // namespace support
