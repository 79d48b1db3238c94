// The least that a proxy can do with a request that it cannot answer itself: one thread waits with
// epoll, passes each request to an idle connection to the origin, and passes the response back. It
// parses nothing but the end of a request and the length of a response, and it sends the bytes that
// it has received.
//   relay_loop PORT ORIGIN     listens on 127.0.0.1, asks the origin at 127.0.0.1:ORIGIN
#include <netinet/in.h>
#include <netinet/tcp.h>
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
#include <utility>
#include <vector>

#include "listening.hpp"

namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n";
constexpr int kNobody = -1;

// A client's connection, or one to the origin.
struct Connection {
  bool to_origin = false;
  int other = kNobody;   // the connection that this one exchanges messages with
  std::string received;  // of a message that has begun
};

class Loop {
 public:
  Loop(std::uint16_t port, std::uint16_t origin)
      : origin_(loopback(origin)), listener_(listen_on(port)), epoll_(::epoll_create1(0)) {
    watch(listener_, EPOLLIN);
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 512> events{};
    for (;;) {
      const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        const int descriptor = events.at(static_cast<std::size_t>(i)).data.fd;
        if (descriptor == listener_)
          accept_all();
        else if (at(descriptor).to_origin)
          pass_response(descriptor);
        else
          pass_request(descriptor);
      }
    }
  }

 private:
  void watch(int descriptor, std::uint32_t what) const {
    epoll_event event{};
    event.events = what;
    event.data.fd = descriptor;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event);
  }

  Connection& at(int descriptor) { return connections_[static_cast<std::size_t>(descriptor)]; }

  void add(int descriptor, bool to_origin) {
    const auto index = static_cast<std::size_t>(descriptor);
    if (index >= connections_.size()) connections_.resize(index + 1);
    at(descriptor) = {to_origin, kNobody, {}};
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    watch(descriptor, EPOLLIN | EPOLLET);
  }

  void accept_all() {
    for (int client = 0; (client = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;)
      add(client, false);
  }

  int take_idle() {
    if (!idle_.empty()) {
      const int taken = idle_.back();
      idle_.pop_back();
      return taken;
    }
    const int fresh = ::socket(AF_INET, SOCK_STREAM, 0);
    if (::connect(fresh, reinterpret_cast<const sockaddr*>(&origin_), sizeof origin_) != 0)
      give_up("cannot connect to the origin");
    add(fresh, true);
    return fresh;
  }

  // Returns false if the connection has ended.
  bool receive(int from) {
    const ssize_t count = ::recv(from, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (count > 0) at(from).received.append(buffer_.data(), static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && errno == EAGAIN);
  }

  // A message is short, and the one that it goes to has read all before: so the socket has room.
  // A client may have closed its connection, which its next event tells.
  void pass(int from, int to) {
    auto& message = at(from).received;
    const auto sent = ::send(to, message.data(), message.size(), MSG_NOSIGNAL);
    if (sent >= 0 && sent != static_cast<ssize_t>(message.size()))
      give_up("cannot send a message at once");
    message.clear();
  }

  void pass_request(int client) {
    if (!receive(client)) return close_client(client);
    if (!at(client).received.ends_with(kEndOfHead)) return;
    const int origin = take_idle();
    at(client).other = origin;
    at(origin).other = client;
    pass(client, origin);
  }

  void close_client(int client) {
    if (at(client).other != kNobody) at(at(client).other).other = kNobody;
    ::close(client);
  }

  void pass_response(int origin) {
    if (!receive(origin)) give_up("the origin has closed a connection");
    if (!is_whole(at(origin).received)) return;
    const int client = std::exchange(at(origin).other, kNobody);
    if (client == kNobody) {
      at(origin).received.clear();
    } else {
      at(client).other = kNobody;
      pass(origin, client);
    }
    idle_.push_back(origin);
  }

  static bool is_whole(std::string_view message) {
    constexpr std::string_view kLength = "Content-Length: ";
    const auto head = message.find(kEndOfHead);
    const auto length = message.find(kLength);
    if (head == message.npos || length > head) return false;
    const auto bytes = std::strtoull(message.data() + length + kLength.size(), nullptr, 10);
    return message.size() == head + kEndOfHead.size() + bytes;
  }

  const sockaddr_in origin_;
  const int listener_;
  const int epoll_;
  std::vector<Connection> connections_;  // by descriptor
  std::vector<int> idle_;                // connections to the origin
  std::array<char, 65536> buffer_{};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: relay_loop PORT ORIGIN\n");
    return 2;
  }
  Loop(static_cast<std::uint16_t>(std::atoi(argv[1])),
       static_cast<std::uint16_t>(std::atoi(argv[2])))
      .run();
}
