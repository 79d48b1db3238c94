// A neighbour on loopback that answers with whatever bytes a test wants.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace peers::samples {

// Serves one connection at a time, blocking, on its own thread.
class ScriptedPeer {
 public:
  // Answers a request, whose number counts from 0, by send(). Returning false closes the
  // connection.
  using Answer = std::function<bool(ScriptedPeer& peer, std::size_t number)>;

  explicit ScriptedPeer(Answer answer);
  // Answers every request with the same bytes.
  explicit ScriptedPeer(std::string bytes);
  ~ScriptedPeer();
  ScriptedPeer(const ScriptedPeer&) = delete;
  ScriptedPeer& operator=(const ScriptedPeer&) = delete;

  std::uint16_t port() const { return port_; }
  // The heads of the requests so far.
  std::vector<std::string> requests() const;

  // For use in an Answer. Returns false if the other side has closed.
  bool send(std::string_view bytes);
  // Sends nothing more until the other side closes.
  void stall();

 private:
  void run();
  void serve();
  bool receive_head();

  const Answer answer_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> connection_{-1};
  std::atomic<bool> stopping_{false};
  std::string unread_;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::jthread thread_;
};

}  // namespace peers::samples
