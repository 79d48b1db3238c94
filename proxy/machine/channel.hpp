// Messages between the process that serves and the one that takes over from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/machine/descriptor.hpp"

namespace proxy::succession {

enum class Kind : char {
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
  Kind kind{};
  std::string text;
  Descriptor carried;  // for Kind::socket and Kind::launch
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
bool send(int channel, Kind kind, std::string_view text = {}, int carried = -1);

enum class Wait : std::uint8_t { no, yes };
struct Received {
  std::optional<Message> message;  // none: nothing has arrived, or nothing will
  bool closed = false;             // the other end is closed
};
Received receive(int channel, Wait wait);

}  // namespace proxy::succession
