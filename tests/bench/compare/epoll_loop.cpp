// The least that a server can do: one thread waits with epoll, and answers each request with one
// recv and one send of a fixed response. It parses nothing: a request ends at an empty line.
//   epoll_loop PORT BYTES      listens on 127.0.0.1, each response has a body of BYTES
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "listening.hpp"

namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n";

struct Connection {
  std::size_t sent = 0;        // of the response under way; 0: none is under way
  std::size_t owed = 0;        // responses that are not sent completely
  std::size_t matched = 0;     // bytes of kEndOfHead that the last recv ended with
  bool waits_to_send = false;  // what epoll is asked for
};

std::string response_of(std::size_t bytes) {
  std::string response = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(bytes) +
                         "\r\nContent-Type: application/octet-stream\r\n\r\n";
  response.append(bytes, 'x');
  return response;
}

class Loop {
 public:
  Loop(std::uint16_t port, std::size_t bytes)
      : response_(response_of(bytes)), listener_(listen_on(port)), epoll_(::epoll_create1(0)) {
    watch(EPOLL_CTL_ADD, listener_, EPOLLIN);
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 512> events{};
    for (;;) {
      const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        const int descriptor = events.at(static_cast<std::size_t>(i)).data.fd;
        if (descriptor == listener_)
          accept_all();
        else if (!serve(descriptor))
          ::close(descriptor);
      }
    }
  }

 private:
  void watch(int operation, int descriptor, std::uint32_t what) const {
    epoll_event event{};
    event.events = what;
    event.data.fd = descriptor;
    ::epoll_ctl(epoll_, operation, descriptor, &event);
  }

  void accept_all() {
    for (int client = 0; (client = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) {
      const auto index = static_cast<std::size_t>(client);
      if (index >= connections_.size()) connections_.resize(index + 1);
      connections_[index] = {};
      watch(EPOLL_CTL_ADD, client, EPOLLIN);
    }
  }

  // Returns false if the connection has ended.
  bool serve(int client) {
    Connection& connection = connections_[static_cast<std::size_t>(client)];
    if (connection.owed == 0 && !receive(client, connection)) return false;
    while (connection.owed > 0) {
      const ssize_t sent = ::send(client, response_.data() + connection.sent,
                                  response_.size() - connection.sent, MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN) return false;
      if (sent < 0) break;
      connection.sent += static_cast<std::size_t>(sent);
      if (connection.sent < response_.size()) break;
      connection.sent = 0;
      --connection.owed;
    }
    const bool waits_to_send = connection.owed > 0;
    if (waits_to_send != connection.waits_to_send)
      watch(EPOLL_CTL_MOD, client, waits_to_send ? EPOLLOUT : EPOLLIN);
    connection.waits_to_send = waits_to_send;
    return true;
  }

  bool receive(int client, Connection& connection) {
    const ssize_t count = ::recv(client, buffer_.data(), buffer_.size(), 0);
    if (count <= 0) return count < 0 && errno == EAGAIN;
    for (const char byte : std::string_view(buffer_.data(), static_cast<std::size_t>(count))) {
      const bool goes_on = byte == kEndOfHead[connection.matched];
      connection.matched = goes_on ? connection.matched + 1 : (byte == '\r' ? 1 : 0);
      if (connection.matched < kEndOfHead.size()) continue;
      connection.matched = 0;
      ++connection.owed;
    }
    return true;
  }

  const std::string response_;
  const int listener_;
  const int epoll_;
  std::vector<Connection> connections_;  // by descriptor
  std::array<char, 16384> buffer_{};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: epoll_loop PORT BYTES\n");
    return 2;
  }
  Loop(static_cast<std::uint16_t>(std::atoi(argv[1])), std::strtoull(argv[2], nullptr, 10)).run();
}
