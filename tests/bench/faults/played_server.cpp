#include "tests/bench/faults/played_server.hpp"

#include <sys/socket.h>

#include <condition_variable>
#include <utility>

namespace bench {
namespace {

constexpr std::string_view kDigestPath = "/squid-internal-periodic/store_digest";
constexpr std::string_view kNativePath = "/digest/native";

// More than a queue of length 1 takes.
constexpr int kEnoughToFill = 8;

support::Descriptor begin_to_connect(std::uint16_t port) {
  support::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const sockaddr_in address = support::loopback(port);
  [[maybe_unused]] const int begun =
      ::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return socket;
}

}  // namespace

bool pause(const Call& call, std::chrono::milliseconds time) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, call.stop, time, [] { return false; });
  return !call.stop.stop_requested();
}

PlayedServer::PlayedServer(Answer answer, std::string digest, int backlog, support::Reach reach)
    : answer_(std::move(answer)),
      digest_(std::move(digest)),
      listener_(backlog, reach),
      acceptor_([this] { accept_all(); }) {}

PlayedServer::~PlayedServer() {
  if (acceptor_.joinable()) end();
}

void PlayedServer::end() {
  listener_.shut_down();
  acceptor_.join();
  for (auto& connection : connections_) {
    connection.thread.request_stop();
    connection.socket.shut_down();
  }
}

void PlayedServer::accept_all() {
  while (auto socket = listener_.accept()) {
    const std::lock_guard lock(mutex_);
    auto& connection = connections_.emplace_back(std::move(*socket));
    if (is_black_hole_) return;
    connection.thread = std::jthread([this, &connection](const std::stop_token& stop) {
      serve(connection.socket, stop);
      connection.socket.shut_down();
    });
  }
}

// The acceptor takes one connection more, and then none.
void PlayedServer::become_black_hole() {
  is_black_hole_ = true;
  for (int i = 0; i < kEnoughToFill; ++i) {
    in_backlog_.push_back(begin_to_connect(port()));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // in this order
  }
}

void PlayedServer::serve(support::Socket& socket, const std::stop_token& stop) {
  try {
    support::Incoming<support::Request> incoming(socket);
    while (const auto request = incoming.head()) {
      while (!incoming.body_piece().empty()) {
      }
      if (!answer({socket, *request, 0, stop})) return;
    }
  } catch (const std::exception&) {  // idle, or the other side is gone
  }
}

bool PlayedServer::answer(const Call& call) {
  if (call.request.path == kDigestPath) {
    const support::Fields fields{{"Server", "Hearsay/0.1.0"},
                                 {"X-Cache", kSignature},
                                 {"Content-Length", std::to_string(digest_.size())}};
    return call.socket.write(support::head_text("HTTP/1.1 200 OK", fields) + digest_);
  }
  if (call.request.path.starts_with(kNativePath)) {
    return call.socket.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  }
  return answer_({call.socket, call.request, requests_++, call.stop});
}

}  // namespace bench
