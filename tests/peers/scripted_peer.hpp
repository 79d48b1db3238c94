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

// One connection at a time, blocking, on a thread of its own.
class ScriptedPeer {
 public:
  // Called with the number of the request, from 0, to answer it by send(); false closes.
  using Answer = std::function<bool(ScriptedPeer& peer, std::size_t number)>;

  explicit ScriptedPeer(Answer answer);
  // A peer that gives the same bytes to all.
  explicit ScriptedPeer(std::string bytes);
  ~ScriptedPeer();
  ScriptedPeer(const ScriptedPeer&) = delete;
  ScriptedPeer& operator=(const ScriptedPeer&) = delete;

  std::uint16_t port() const { return port_; }
  // Heads of the requests so far.
  std::vector<std::string> requests() const;

  // For the answer: false once the other side is gone.
  bool send(std::string_view bytes);
  // Nothing more until the other side closes.
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
