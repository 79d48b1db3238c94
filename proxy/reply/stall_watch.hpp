// Whether a client takes what it is sent, while others wait for the memory that this takes.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/client/client.hpp"
#include "proxy/fill/transfer_slots.hpp"

namespace proxy {

// Between begin() and end() something is written to the client, under a place in the room. Where it
// acknowledges fewer than kLeast bytes in kPatience, and somebody waits for the place, the write
// fails. On the thread of the deadlines.
class StallWatch final : private net::Watched {
 public:
  static constexpr std::chrono::seconds kPatience{5};
  static constexpr std::uint64_t kLeast = 64 * 1024;

  StallWatch(net::Stream& client, net::Deadlines& deadlines, TransferSlots::Slot& slot);

  void begin();
  void end();

 private:
  void on_expiry() override;
  [[nodiscard]] std::optional<std::uint64_t> acknowledged();

  net::Stream& client_;
  net::Deadlines& deadlines_;
  TransferSlots::Slot& slot_;
  Clock::time_point since_;
  std::optional<std::uint64_t> by_then_;  // acknowledged, of all that was sent on the connection
};

}  // namespace proxy
