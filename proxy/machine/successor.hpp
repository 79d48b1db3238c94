// The process that takes over, as the process that served before sees it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>

#include "peers/threads/mutex.hpp"
#include "proxy/machine/channel.hpp"

namespace proxy::succession {

// From the time at which the successor may read the disk, it has to forget whatever is purged or
// invalidated here. Any thread, except as said.
class Successor {
 public:
  // For the main thread. `channel` stays open until disown(), or for ever.
  void adopt(int channel) EXCLUDES(mutex_);
  // For the main thread. Whoever waits is told that the successor has not forgotten.
  void disown() EXCLUDES(mutex_);
  [[nodiscard]] bool exists() const { return channel_ >= 0; }

  // Tells the successor to forget. Kind::forget_url or Kind::forget_many. Returns whether it could
  // be told. If so, the main thread calls `answered` once the successor has answered, or is
  // disowned.
  using Answered = std::function<void(bool forgotten)>;
  bool tell(Kind kind, std::string_view what, Answered answered) EXCLUDES(mutex_);
  // For the main thread. The successor has forgotten; the text of its message.
  void note_forgotten(std::string_view number) EXCLUDES(mutex_);

 private:
  std::atomic<int> channel_ = -1;
  threads::Mutex mutex_;
  std::uint64_t told_ GUARDED_BY(mutex_) = 0;  // orders, those to former successors among them
  std::map<std::uint64_t, Answered> waiting_ GUARDED_BY(mutex_);  // by the order's number
};

}  // namespace proxy::succession
