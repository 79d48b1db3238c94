// Aborts the response to a client that hardly reads while other responses wait for a transfer slot.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/blocks/transfer_slots.hpp"
#include "proxy/client/response_writer.hpp"
#include "proxy/net/deadlines.hpp"

namespace proxy {

// Between begin() and end() one coroutine writes to the client while it holds a transfer slot. If
// the client acknowledges fewer than kLeast bytes in kPatience, and another request waits for a
// slot, the response is aborted. Time in which limits of bandwidth hold the response back does not
// count. For the thread of the deadlines.
class StallWatch final : private net::Watched {
 public:
  static constexpr std::chrono::seconds kPatience{5};
  static constexpr std::uint64_t kLeast = 64 * 1024;

  StallWatch(ResponseWriter& response, net::Deadlines& deadlines, TransferSlots::Slot& slot);

  void begin();
  void end();

 private:
  void on_expiry() override;

  ResponseWriter& response_;
  net::Deadlines& deadlines_;
  TransferSlots::Slot& slot_;
  Clock::time_point since_;
  std::optional<std::uint64_t> by_then_;  // bytes acknowledged at since_
};

}  // namespace proxy
