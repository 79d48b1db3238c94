#include "tests/peers/scripted_peer.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace peers::samples {

ScriptedPeer::ScriptedPeer(Answer answer) : answer_(std::move(answer)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, any, size) != 0 || listen(listener_, 8) != 0 ||
      getsockname(listener_, any, &size) != 0) {
    throw std::runtime_error("no loopback socket");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this] { run(); });
}

ScriptedPeer::ScriptedPeer(std::string bytes)
    : ScriptedPeer([bytes = std::move(bytes)](ScriptedPeer& peer, std::size_t) {
        return peer.send(bytes);
      }) {}

ScriptedPeer::~ScriptedPeer() {
  stopping_ = true;
  shutdown(listener_, SHUT_RDWR);
  shutdown(connection_, SHUT_RDWR);
  thread_.join();
  close(listener_);
}

std::vector<std::string> ScriptedPeer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

bool ScriptedPeer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(connection_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void ScriptedPeer::stall() {
  std::array<char, 256> ignored{};
  while (recv(connection_, ignored.data(), ignored.size(), 0) > 0) {
  }
}

void ScriptedPeer::run() {
  for (;;) {
    const int accepted = accept(listener_, nullptr, nullptr);
    if (accepted < 0) return;
    connection_ = accepted;
    if (!stopping_) serve();
    connection_ = -1;
    close(accepted);
  }
}

void ScriptedPeer::serve() {
  unread_.clear();
  while (receive_head()) {
    if (!answer_(*this, requests().size() - 1)) return;
  }
}

bool ScriptedPeer::receive_head() {
  for (;;) {
    if (const auto end = unread_.find("\r\n\r\n"); end != std::string::npos) {
      const std::lock_guard lock(mutex_);
      requests_.push_back(unread_.substr(0, end + 2));
      unread_.erase(0, end + 4);
      return true;
    }
    std::array<char, 4096> bytes{};
    const auto count = recv(connection_, bytes.data(), bytes.size(), 0);
    if (count <= 0) return false;
    unread_.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace peers::samples
