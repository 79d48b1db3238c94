// Cuts off clients that keep a transfer slot and read nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/client/client.hpp"
#include "proxy/fill/transfer_slots.hpp"

namespace proxy {

// Between begin() and end() the caller writes to the client, and has a transfer slot. If the client
// acknowledges fewer than kLeast bytes in kPatience, and somebody waits for the slot, the write
// fails. Belongs to the thread of the deadlines.
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
  std::optional<std::uint64_t> by_then_;  // bytes acknowledged on the connection at `since_`
};

}  // namespace proxy
