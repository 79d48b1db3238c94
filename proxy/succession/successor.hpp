// The process that takes over, as the process that served before sees it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "proxy/succession/channel.hpp"

namespace proxy::succession {

// From the time at which the successor may read the disk, it has to forget whatever is purged or
// invalidated here. Any thread, except as said.
class Successor {
 public:
  // For the main thread. `channel` stays open until disown(), or for ever.
  void adopt(int channel) { channel_ = channel; }
  void disown() { channel_ = -1; }
  [[nodiscard]] bool exists() const { return channel_ >= 0; }

  // Tells the successor to forget. Returns whether it could be told. Kind::forget_url or
  // Kind::forget_many.
  bool tell(Kind kind, std::string_view text) {
    ++owed_;
    const bool sent = send(channel_, kind, text);
    if (!sent) --owed_;
    return sent;
  }
  // The successor has forgotten one of them.
  void note_forgotten() { --owed_; }
  [[nodiscard]] bool has_forgotten_all() const { return owed_ == 0; }

 private:
  std::atomic<int> channel_ = -1;
  std::atomic<std::int64_t> owed_ = 0;
};

}  // namespace proxy::succession
