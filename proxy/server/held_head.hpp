// The head of a request: the memory that it takes until the request ends, and how fast it arrives.
#pragma once

#include <optional>

#include "proxy/crowd/client_table.hpp"
#include "proxy/crowd/receipt_rate.hpp"
#include "proxy/net/input.hpp"
#include "proxy/server/worker.hpp"

namespace proxy::server {

// Counts the memory of a head that has arrived in part, and of one that is whole until its request
// ends. If all such heads together exceed limits.heads, has Relief cut some. A head that does not
// meet limits.least_rate over half of timeouts.head is cut. A request that was cut may wait for
// something else for a while before it ends. So a whole head is also cut if heads, those of cut
// requests included, take more than twice limits.heads. Belongs to a session, and ends it by cut().
//
// A whole head below kSmall is not counted: it fits the buffer of 16 KiB that each request has,
// so the number of requests bounds its memory. A small head that arrives in one piece costs
// nothing here.
class HeldHead final : public net::HeadWatch {
 public:
  static constexpr std::size_t kSmall = 8 * 1024;

  HeldHead(Worker& worker, crowd::SessionList::Item& session);

  // Records that the session waits for a head.
  void begin();
  // Records that the head is whole and has so many bytes, in a buffer of `memory` bytes. The
  // response to its request has begun, so that it can be cut.
  void arrived(std::size_t bytes, std::size_t memory);
  // The head is gone.
  void end();
  // Records that the session was cut, so that it is not cut again. The head's memory stays until
  // end().
  void leave();
  // The memory taken, since when. `by_client`: the head has arrived in part.
  [[nodiscard]] crowd::Unread held() const;

 private:
  void incomplete(std::size_t bytes, std::size_t memory) override;
  [[nodiscard]] crowd::ReceiptRate::Met record(std::size_t bytes);
  void keep_the_limit();

  Worker& worker_;
  crowd::SessionList::Item& session_;
  crowd::PartOfSum memory_;
  crowd::PartOfSum leaving_{worker_.shared.crowd.leaving_heads};
  std::optional<crowd::ReceiptRate> rate_;  // since the first piece
  std::size_t bytes_ = 0;
  bool whole_ = false;
  std::chrono::steady_clock::time_point begun_{};
  std::chrono::steady_clock::time_point last_{};  // time at which bytes came
};

}  // namespace proxy::server
