// The process that served before this one, as its successor sees it.
#pragma once

#include <cstdint>
#include <deque>

#include "proxy/machine/channel.hpp"

namespace proxy::succession {

// Does nothing where there is no predecessor. For the main thread.
class Predecessor {
 public:
  // By the environment (Launcher::launch()).
  static Predecessor of_environment();

  explicit operator bool() const { return static_cast<bool>(channel_); }
  // Of the channel, for waiting until it is readable; -1: none.
  [[nodiscard]] int channel() const { return channel_.number(); }

  // The predecessor ends its writing to the disk, and serves on. Returns once it has, or after
  // kLongestRelease: then the disk is taken when it is free. Orders that arrive meanwhile are kept
  // for next().
  void take_disk();
  // Its control socket is not ours: the predecessor removes the file once we serve.
  void decline_control() const;
  // The predecessor accepts no more connections. Call this when ours are accepted. Returns false if
  // it has waited too long and serves on: then this process is to end.
  [[nodiscard]] bool say_serving();

  // The predecessor has purged or invalidated this: forget it, then say so by the number of the
  // order (succession/order.hpp).
  [[nodiscard]] Received next();
  void say_forgotten(std::uint64_t order) const;

 private:
  explicit Predecessor(int channel) : channel_(channel) {}

  Descriptor channel_;
  std::deque<Message> early_;  // arrived before the disk was released
};

}  // namespace proxy::succession
