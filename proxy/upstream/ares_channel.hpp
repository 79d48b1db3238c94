// Runs c-ares on an io_context: waits for its sockets and keeps its time-outs. Only the Resolver
// and its NameProbe use this.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "proxy/net/asio.hpp"
#include "proxy/upstream/endpoint.hpp"

struct ares_channeldata;

namespace proxy::upstream {

struct Resolved {
  Addresses addresses;  // at least one, no duplicates
  std::chrono::seconds ttl{0};
};

// What happens if a name server refuses or fails a question.
enum class OnRefusal {
  ask_next,  // the next server is asked; if all refuse, that looks as if none could be reached
  tell,      // the answer is Errc::resolver_refused
};

class AresChannel {
 public:
  using OnAnswer = std::function<void(net::Result<Resolved>)>;

  // `servers` has the format of ares_set_servers_ports_csv; empty: the system's.
  AresChannel(net::Executor executor, const std::string& servers,
              OnRefusal on_refusal = OnRefusal::ask_next);
  AresChannel(const AresChannel&) = delete;
  AresChannel& operator=(const AresChannel&) = delete;
  ~AresChannel();

  // Calls `answered` exactly once: perhaps before ask() returns, at the latest in the destructor.
  void ask(const std::string& name, OnAnswer answered);
  // The addresses of the servers.
  [[nodiscard]] std::vector<std::string> servers() const;

 private:
  enum class Direction { read, write };
  struct Watch;

  void socket_changed(int fd, bool wants_read, bool wants_write);
  void wait(const std::shared_ptr<Watch>& watch, Direction direction);
  void ready(int fd, Direction direction);
  void keep_time();

  net::Timer timer_;
  std::unordered_map<int, std::shared_ptr<Watch>> watches_;  // c-ares owns and closes the sockets
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // handlers may outlive us
  ares_channeldata* channel_ = nullptr;
};

}  // namespace proxy::upstream
