// The process that serves, the one that takes over from it, and the messages between them.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "peers/threads/mutex.hpp"
#include "proxy/machine/descriptor.hpp"

namespace proxy::machine::succession {

enum class MessageKind : char {
  order = 'o',         // to the launcher, first: what an order before has left is void
  socket = 's',        // to the launcher, with a listening socket; text: the socket's name
  launch = 'l',        // to the launcher, with the successor's end of the channel
  end = 'e',           // to the launcher: the program that it has started last is to end
  release_disk = 'd',  // to the predecessor: end writing to the disk
  disk_released = 'r',
  control_declined = 'c',  // to the predecessor: its control socket ends with it
  serving = 'a',           // to the predecessor: accept no more connections
  too_late = 't',          // to the successor: its predecessor goes on without it
  // To the successor; text: an Order, of the name under which a response is stored.
  forget_url = 'u',
  forget_many = 'p',  // likewise, of PurgePattern::text()
  forgotten = 'f',    // to the predecessor, once for each of these two; text: the order's number
};

using machine::Descriptor;

struct Message {
  MessageKind kind{};
  std::string text;
  Descriptor carried;  // for MessageKind::socket and MessageKind::launch
};

// The kernel keeps messages whole and in order.
struct Channel {
  Descriptor ours;
  Descriptor theirs;
};
// Connects two ends. Both are none if the process is out of descriptors.
Channel make_channel();

// Sends without waiting. `carried`: a descriptor that the receiver gets a copy of; -1: none.
// Returns whether it was sent: false if the other end is closed or reads too slowly.
bool send(int channel, MessageKind kind, std::string_view text = {}, int carried = -1);

enum class Wait : std::uint8_t { no, yes };
struct ReceivedMessage {
  std::optional<Message> message;  // none: nothing has arrived, or nothing will
  bool closed = false;             // the other end is closed
};
ReceivedMessage receive(int channel, Wait wait);

// An order to forget, as the text of a message has it: "17 http://a.test/".
struct Order {
  std::uint64_t number = 0;
  std::string_view what;  // to forget
};

std::string text_of(const Order& order);
// Returns the order that the text names. Nothing: the text is no order.
std::optional<Order> order_of(std::string_view text);

// The process that served before this one. Does nothing where there is none. For the main thread.
class Predecessor {
 public:
  // The predecessor that the environment names (Launcher::launch()).
  static Predecessor of_environment();

  explicit operator bool() const { return static_cast<bool>(channel_); }
  // The channel's descriptor, to wait until it is readable; -1: there is no predecessor.
  [[nodiscard]] int channel() const { return channel_.number(); }

  // Has the predecessor end its writing to the disk; it serves on. Returns once the predecessor has
  // ended, but after kLongestRelease in any case. If it has not ended by then, the caller takes the
  // disk when it is free. Orders that arrive meanwhile are kept for next().
  void take_disk();
  // Tells the predecessor that our control socket does not replace its own. Then the predecessor
  // removes the file of its socket once we serve.
  void decline_control() const;
  // The predecessor accepts no more connections. Call this when ours are accepted. Returns false if
  // it has waited too long and serves on: then this process is to end.
  [[nodiscard]] bool say_serving();

  // Returns what the predecessor has purged or invalidated. The caller forgets it, too, and then
  // reports the number of the order by say_forgotten().
  [[nodiscard]] ReceivedMessage next();
  void say_forgotten(std::uint64_t order) const;

 private:
  explicit Predecessor(int channel) : channel_(channel) {}

  Descriptor channel_;
  std::deque<Message> early_;  // arrived before the disk was released
};

// The process that takes over. From the time at which it may read the disk, it has to forget
// whatever is purged or invalidated here. Any thread, except as said.
class Successor {
 public:
  // Begins to send orders to the process behind `channel`, which stays open until disown(), or for
  // ever. The main thread calls this.
  void adopt(int channel) EXCLUDES(mutex_);
  // Ends sending orders. Whoever waits is told that the successor has not forgotten. The main
  // thread calls this.
  void disown() EXCLUDES(mutex_);
  [[nodiscard]] bool exists() const { return channel_ >= 0; }

  // Orders the successor to forget: `kind` is MessageKind::forget_url or MessageKind::forget_many,
  // and `what` is the URL or the pattern. Returns false if the order could not be sent. Else the
  // main thread calls `answered` once the successor has answered, at the latest in disown().
  using Answered = std::function<void(bool forgotten)>;
  bool tell(MessageKind kind, std::string_view what, Answered answered) EXCLUDES(mutex_);
  // Records that the successor has forgotten. `number`: the text of its message. The main thread
  // calls this.
  void record_forgotten(std::string_view number) EXCLUDES(mutex_);

 private:
  std::atomic<int> channel_ = -1;
  threads::Mutex mutex_;
  std::uint64_t told_ GUARDED_BY(mutex_) = 0;  // orders, those to former successors among them
  std::map<std::uint64_t, Answered> waiting_ GUARDED_BY(mutex_);  // by the order's number
};

}  // namespace proxy::machine::succession
